#pragma once

#include <string>

namespace lab {

/// The OpenBLAS kernel set for this CPU, from its instruction sets: "SkylakeX" (AVX-512), "Haswell" (AVX2 and FMA), or
/// empty: leave the choice to OpenBLAS. An OpenBLAS that is older than the CPU does not know its model and falls back
/// to the slowest kernels.
///
/// A program that links this unit sees to it by itself, however it is started: OpenBLAS asks getenv() for
/// OPENBLAS_CORETYPE while libraries are initialised, and this unit's getenv() answers with the set above where the
/// user has said nothing. (Setting the variable in main is too late, setting it earlier is undone by the C library, and
/// starting the program anew costs a tenth of a second.)
std::string best_openblas_core();

/// libgomp asks for OMP_WAIT_POLICY in the same way, and is told "passive" where the user has said nothing: its threads
/// otherwise spin while they wait, and ranks that share cores take them from each other. (libgomp of GCC 13 and later
/// reads the environment itself; there labrun's variable helps, and a plain start spins.)

/// Set by the user, or the answer that OpenBLAS got; empty: it chose by itself.
std::string openblas_core_in_use();

}  // namespace lab
