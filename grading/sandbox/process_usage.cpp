#include "grading/sandbox/process_usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/api/errors.h"

namespace lab::grading {

std::optional<ProcStat> read_stat(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::size_t end_of_name = line.rfind(')');  // the name may hold spaces and parentheses
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_name + 1));
  ProcStat stat;
  fields >> stat.state >> stat.parent;
  double skipped = 0, user = 0, system = 0;
  for (int field = 5; field < 14; ++field) fields >> skipped;
  fields >> user >> system;
  stat.cpu_seconds = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (!fields) return std::nullopt;
  return stat;
}

std::uint64_t status_bytes(const std::string& path, std::initializer_list<const char*> names) {
  std::ifstream file(path);
  std::uint64_t kibibytes = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    std::istringstream(line.substr(colon + 1)) >> number;
    kibibytes += number;
  }
  return kibibytes << 10;
}

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
