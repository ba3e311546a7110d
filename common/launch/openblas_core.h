#pragma once

#include <string>

namespace lab::launch {

/// The OpenBLAS kernel set for this CPU, from its instruction sets: "SkylakeX" (AVX-512), "Haswell" (AVX2 and FMA), or
/// empty: leave the choice to OpenBLAS. An OpenBLAS older than the CPU does not know its model and falls back to the
/// slowest kernels.
///
/// A program that links this unit has two defaults for variables that the user has not set: OPENBLAS_CORETYPE is the
/// set above; OMP_WAIT_POLICY is "passive", since libgomp's threads otherwise spin while they wait, and ranks that
/// share cores take them from each other. Both libraries call getenv() while they are initialised, so the unit replaces
/// getenv(). (libgomp of GCC 13 and later reads the environment itself; there labrun's variable helps, and a plain
/// start spins.)
///
/// Setting the variables instead: main() is too late, and what is set earlier is undone by the C library. Where ranks
/// are started is too late as well, for they are forked from a process that has loaded both libraries. Only starting
/// the program a second time would do, under every launcher, for another 0.15 s of dynamic linking in each process.
std::string best_openblas_core();

}  // namespace lab::launch
