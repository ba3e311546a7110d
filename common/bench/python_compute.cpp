#include "common/bench/python_compute.h"

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/base/errors.h"
#include "common/base/subprocess.h"

namespace lab {
namespace {

constexpr double kMostSeconds = 900;

std::int64_t resident_bytes(const std::string& kind) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(kind, 0) == 0) return std::stoll(line.substr(kind.size() + 1)) * 1024;
  }
  return 0;
}

void leave_out(const std::string& why) {
  fmt::print("Python is left out: {}; hint: apt-get install python3-torch python3-numpy\n", why);
}

}  // namespace

std::optional<PythonCompute> python_compute(const std::vector<std::string>& arguments,
                                            const std::map<std::string, std::string>& memory) {
  if (!std::filesystem::exists(LAB_PYTHON_COMPUTE)) {
    leave_out(fmt::format("there is no {}", LAB_PYTHON_COMPUTE));
    return std::nullopt;
  }
  ProcessSpec python;
  python.argv = {"/usr/bin/python3", LAB_PYTHON_COMPUTE};
  python.argv.insert(python.argv.end(), arguments.begin(), arguments.end());
  python.environment = memory;
  python.environment["OMP_NUM_THREADS"] = "1";
  python.environment["OPENBLAS_NUM_THREADS"] = "1";  // PyTorch does not tell OpenBLAS
  try {
    const ProgramEnd end = run_program(python, kMostSeconds);
    if (!end.well()) {
      leave_out(fmt::format("{} {}", python.argv.front(), end.message()));
      return std::nullopt;
    }
    const nlohmann::json found = nlohmann::json::parse(end.out);
    return PythonCompute{found.at("seconds"), found.at("peak_bytes"), found.at("start_seconds"), found.at("checksum")};
  } catch (const UsageError& error) {
    leave_out(error.what());
  } catch (const nlohmann::json::exception& error) {
    leave_out(fmt::format("compute.py printed no line of JSON: {}", error.what()));
  }
  return std::nullopt;
}

PeakResident::PeakResident() {
  malloc_trim(0);  // memory that is kept since it was freed would be used again, and not be counted
  std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM begins anew
  before_ = resident_bytes("VmRSS:");
}

std::int64_t PeakResident::bytes() const {
  return resident_bytes("VmHWM:") - before_;
}

double start_seconds_of(const std::string& program) {
  ProcessSpec run;
  run.argv = {program, "--version"};
  const auto start = std::chrono::steady_clock::now();
  const ProgramEnd end = run_program(run);
  if (!end.well()) throw Error(ExitCode::kInternal, fmt::format("{} --version {}", program, end.message()));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace lab
