#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "common/base/costs.h"

// What the kernel tells about processes under /proc (proc(5)).
namespace lab::grading {

/// From `stat` of a process or of one of its threads.
struct ProcStat {
  char state = 'S';
  pid_t parent = 0;
  double cpu_seconds = 0;  ///< user and system; of a process: of all its threads, ended ones included
};

/// nullopt: it is gone.
std::optional<ProcStat> read_stat(const std::string& path);

/// The sum of lines of a `status` file, such as "RssAnon", in bytes; 0 if the process is gone.
std::uint64_t status_bytes(const std::string& path, std::initializer_list<const char*> names);

}  // namespace lab::grading

namespace lab::grading {

/// What one process uses, seen from outside: one reading after the other, while it waits for an answer.
class ProcessUsage {
 public:
  explicit ProcessUsage(std::string proc = "/proc") : proc_(std::move(proc)) {}

  /// A case begins.
  void case_begins(pid_t process);
  /// It has ended: the CPU time of all its threads since its last one ended, in steps of 10 ms, and how far the memory of
  /// the process has been beyond that of the beginning of its first case, and beyond what any earlier case has reached:
  /// nobody outside can tell how much of that is free.
  /// Errors    UsageError: another process began, or this one is gone
  SeenUse case_ended(pid_t process);

 private:
  const std::string proc_;
  pid_t process_ = 0;
  std::uint64_t resident_before_ = 0;
  double cpu_before_ = 0;
};

}  // namespace lab::grading
