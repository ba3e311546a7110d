#include "grading/sandbox/process_usage.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "grading/sandbox/proc_files.h"

namespace lab::grading {
namespace {

std::string file_of(const std::string& proc, pid_t process, const char* name) {
  return proc + "/" + std::to_string(process) + "/" + name;
}

double cpu_seconds_of(const std::string& proc, pid_t process) {
  const auto stat = read_stat(file_of(proc, process, "stat"));
  if (!stat) throw UsageError(fmt::format("process {} is gone", process));
  return stat->cpu_seconds;
}

std::uint64_t resident_bytes_of(const std::string& proc, pid_t process, const char* which) {
  const std::uint64_t bytes = status_bytes(file_of(proc, process, "status"), {which});
  if (bytes == 0) throw UsageError(fmt::format("process {} has ended", process));
  return bytes;
}

}  // namespace

void ProcessUsage::case_begins(pid_t process) {
  // What an earlier case has reached was seen then.
  resident_before_ = resident_bytes_of(proc_, process, process == process_ ? "VmHWM" : "VmRSS");
  process_ = process;
  cpu_before_ = cpu_seconds_of(proc_, process);
}

SeenUse ProcessUsage::case_ended(pid_t process) const {
  if (process != process_) throw UsageError(fmt::format("process {} hands in for process {}", process, process_));
  SeenUse seen;
  seen.cpu_seconds = cpu_seconds_of(proc_, process) - cpu_before_;
  const std::uint64_t highest = resident_bytes_of(proc_, process, "VmHWM");
  if (highest > resident_before_) seen.peak_bytes = static_cast<std::int64_t>(highest - resident_before_);
  return seen;
}

}  // namespace lab::grading
