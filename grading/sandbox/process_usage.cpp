#include "grading/sandbox/process_usage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "common/api/errors.h"
#include "common/base/files.h"

namespace lab::grading {

namespace {

/// What a file below /proc says now, in one call; empty: its process is gone. They are read for each case of each rank.
std::string read_at_once(const std::string& path) {
  std::array<char, 8192> text{};
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

}  // namespace

std::optional<ProcStat> read_stat(const std::string& path) {
  const std::string line = read_at_once(path);
  const std::size_t end_of_name = line.rfind(')');  // the name may hold spaces and parentheses
  if (end_of_name == std::string::npos) return std::nullopt;
  ProcStat stat;
  unsigned long user = 0, system = 0;
  const int found = std::sscanf(line.c_str() + end_of_name + 1, " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu",
                                &stat.state, &stat.parent, &user, &system);
  if (found != 4) return std::nullopt;
  stat.cpu_seconds = static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return stat;
}

std::uint64_t status_bytes(const std::string& path, std::initializer_list<const char*> names) {
  const std::string text = "\n" + read_at_once(path);
  std::uint64_t kibibytes = 0;
  for (const char* name : names) {
    const std::string start = fmt::format("\n{}:", name);
    if (const std::size_t at = text.find(start); at != std::string::npos)
      kibibytes += std::strtoull(text.c_str() + at + start.size(), nullptr, 10);
  }
  return kibibytes << 10;
}

namespace {

std::string read_proc_file(const std::string& proc, pid_t process, const char* name) {
  return proc + "/" + std::to_string(process) + "/" + name;
}

double read_cpu_seconds(const std::string& proc, pid_t process) {
  const auto stat = read_stat(read_proc_file(proc, process, "stat"));
  if (!stat) throw UsageError(fmt::format("process {} is gone", process));
  return stat->cpu_seconds;
}

std::uint64_t read_resident_bytes(const std::string& proc, pid_t process, const char* which) {
  const std::uint64_t bytes = status_bytes(read_proc_file(proc, process, "status"), {which});
  if (bytes == 0) throw UsageError(fmt::format("process {} has ended", process));
  return bytes;
}

}  // namespace

void ProcessUsage::case_begins(pid_t process) {
  if (process == process_) return;  // it was seen when its last case ended
  resident_before_ = read_resident_bytes(proc_, process, "VmRSS");
  process_ = process;
  cpu_before_ = read_cpu_seconds(proc_, process);
}

SeenUse ProcessUsage::case_ended(pid_t process) {
  if (process != process_) throw UsageError(fmt::format("process {} hands in for process {}", process, process_));
  SeenUse seen;
  const double cpu_now = read_cpu_seconds(proc_, process);
  seen.cpu_seconds = cpu_now - cpu_before_;
  cpu_before_ = cpu_now;
  const std::uint64_t highest = read_resident_bytes(proc_, process, "VmHWM");
  if (highest > resident_before_) seen.peak_bytes = static_cast<std::int64_t>(highest - resident_before_);
  resident_before_ = std::max(resident_before_, highest);
  return seen;
}

}  // namespace lab::grading
