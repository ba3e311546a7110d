#pragma once

#include <string>

namespace lab {

/// The OpenBLAS kernel set for this CPU, from its instruction sets: "SkylakeX" (AVX-512), "Haswell" (AVX2 and FMA), or
/// empty: leave the choice to OpenBLAS. An OpenBLAS older than the CPU does not know its model and falls back to the
/// slowest kernels.
///
/// A program that links this unit applies it automatically, however it is started: OpenBLAS calls getenv() for
/// OPENBLAS_CORETYPE while libraries are initialised, and this unit's getenv() returns the set above unless the user
/// has set the variable. (Setting it in main is too late, setting it earlier is undone by the C library, and restarting
/// the program costs a tenth of a second.)
std::string best_openblas_core();

/// libgomp looks up OMP_WAIT_POLICY in the same way, and gets "passive" unless the user has set it: otherwise its
/// threads spin while they wait, and ranks that share cores take them from each other. (libgomp of GCC 13 and later
/// reads the environment itself; there labrun's variable helps, and a plain start spins.)

/// The value set by the user, or the one that OpenBLAS got from getenv(); empty: it chose by itself.
std::string openblas_core_in_use();

}  // namespace lab
