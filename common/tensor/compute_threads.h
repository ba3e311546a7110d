#pragma once

namespace lab {

/// Makes LibTorch and its BLAS use this many threads in this process. OpenBLAS's pool is its own, as many threads as
/// cores and not told by LibTorch; they spin while they wait, and take the cores from each other where several programs
/// or ranks compute at once.
/// Order     a forked process calls it before it starts a thread. The first use of LibTorch's pool after a fork makes it
///           anew, and two threads that both do so end with "Invalid thread pool!" or corrupt memory (a rank that is a
///           process has only one thread before its first work).
void use_threads(int num_threads);

}  // namespace lab
