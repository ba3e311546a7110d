#pragma once

#include "common/base/files.h"

namespace lab::grading {

/// What a program may ask of the kernel: filters of system calls, made by libseccomp. What is refused fails with EPERM.
/// Source    https://man7.org/linux/man-pages/man2/seccomp.2.html
enum class FilterKind {
  kTools,     ///< compilers: everything but networks, namespaces, mounts, other processes' memory, kernel features
  kToNobody,  ///< the same for what root starts and what becomes another user first
  kFirst,     ///< a rank's program before its ranks are forked: not other programs, signals or shared memory either
  kRank       ///< a rank: memory that is not executable, threads, clocks, and the descriptors that it has
};

/// The filter, as a file in memory that holds what the kernel, and bubblewrap's --seccomp, read. kRank's has a place for
/// the rank's own process (common/rank/start/rank_filter.h).
/// Errors    UsageError: libseccomp refuses
UniqueFd syscall_filter(FilterKind kind);

}  // namespace lab::grading
