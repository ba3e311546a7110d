#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/base/resource_use.h"

namespace lab::grading {

/// What one process uses, seen from outside: one reading after the other, while it waits for an answer.
class ProcessUsage {
 public:
  explicit ProcessUsage(std::string proc = "/proc") : proc_(std::move(proc)) {}

  /// A case begins.
  void case_begins(pid_t process);
  /// It has ended: the CPU time of all its threads since then, in steps of 10 ms, and how far the memory of the process
  /// has been beyond that of the beginning of its first case, and beyond what any earlier case has reached: nobody
  /// outside can tell how much of that is free.
  /// Errors    UsageError: another process began, or this one is gone
  SeenUse case_ended(pid_t process) const;

 private:
  const std::string proc_;
  pid_t process_ = 0;
  std::uint64_t resident_before_ = 0;
  double cpu_before_ = 0;
};

}  // namespace lab::grading
