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
  // What an earlier case has reached was seen then.
  resident_before_ = read_resident_bytes(proc_, process, process == process_ ? "VmHWM" : "VmRSS");
  process_ = process;
  cpu_before_ = read_cpu_seconds(proc_, process);
}

SeenUse ProcessUsage::case_ended(pid_t process) const {
  if (process != process_) throw UsageError(fmt::format("process {} hands in for process {}", process, process_));
  SeenUse seen;
  seen.cpu_seconds = read_cpu_seconds(proc_, process) - cpu_before_;
  const std::uint64_t highest = read_resident_bytes(proc_, process, "VmHWM");
  if (highest > resident_before_) seen.peak_bytes = static_cast<std::int64_t>(highest - resident_before_);
  return seen;
}

}  // namespace lab::grading
