#pragma once

#include <string>

namespace lab {

// A program that links this unit has four defaults for variables that the user has not set:
//   OPENBLAS_CORETYPE   best_openblas_core()
//   ONEDNN_MAX_CPU_ISA  highest_onednn_isa()
//   OMP_WAIT_POLICY     "passive": libgomp's threads otherwise spin while they wait, and ranks that share cores take
//                       them from each other. (libgomp of GCC 13 and later reads the environment itself; there
//                       labrun's variable helps, and a plain start spins.)
//   OPENBLAS_THREAD_TIMEOUT  "4", the least: its idle threads otherwise spin before they sleep, too
// The libraries call getenv(), two of them while they are initialised, so the unit replaces getenv().
//
// Setting the variables instead: main() is too late, and what is set earlier is undone by the C library. Where ranks
// are started is too late as well, for they are forked from a process that has loaded the libraries. Only starting the
// program a second time would do, under every launcher, for another 0.15 s of dynamic linking in each process.

/// The OpenBLAS kernel set for this CPU, from its instruction sets: "SkylakeX" (AVX-512), "Haswell" (AVX2 and FMA), or
/// empty: leave the choice to OpenBLAS. An OpenBLAS older than the CPU does not know its model and falls back to the
/// slowest kernels.
std::string best_openblas_core();

/// The instruction sets that oneDNN is kept to, in its spelling; empty: the choice is left to it. "AVX2" where it is
/// version 3.6 or 3.7 and this CPU has AVX-512: Debian 13's (3.7.2, which LibTorch 2.6 loads as 3.6) computes NaN in
/// convolutions there, and crashes in their backward pass. Seen on an AMD EPYC; other CPUs run the same kernels.
std::string highest_onednn_isa();

}  // namespace lab
