#pragma once

#include <string>

namespace lab {

/// The OpenBLAS kernel set for this CPU, from its instruction sets: "SkylakeX" (AVX-512), "Haswell" (AVX2 and FMA), or empty: leave the
/// choice to OpenBLAS. An OpenBLAS that is older than the CPU does not know its model and falls back to the slowest kernels.
///
/// A program that links this unit sees to it by itself: before any library is initialised, and if OPENBLAS_CORETYPE is not set, it
/// starts itself anew with the variable set. That costs some milliseconds; after LibTorch's start it would cost half a second.
std::string best_openblas_core();

}  // namespace lab
