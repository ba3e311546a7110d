#include "common/lab/check_log_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "common/lab/lab_main.h"
#include "common/report/app.h"
#include "common/report/check_log.h"
#include "common/report/counted.h"

namespace lab {
namespace {

std::string read_log(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw UsageError(
        fmt::format("check-log: cannot read {}: it is a folder; expected the log of a run, such as {}/NAME.log, or -",
                    path, path.substr(0, path.find_last_not_of('/') + 1)));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("check-log: cannot read {}; expected the log of a run, or -", path));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

ExitCode check_log_command(int argc, char** argv, const LabProgram& program) {
  App app(program.name + " check-log", "Compares a log with the lines that a right run with default options prints.");
  std::string path;
  int num_ranks = 4;
  app.add_required_file(path, "the log; - reads standard input");
  app.add_whole_number("--nproc", num_ranks, {1, 4096}, "ranks of the run");
  if (const auto done = app.parse(argc - 1, argv + 1)) return *done;

  const std::vector<std::string> problems = check_log(read_log(path), program.expected_log(num_ranks));
  for (const std::string& problem : problems) fmt::print("{}: {}\n", path, problem);
  if (!problems.empty()) return ExitCode::kMismatch;
  fmt::print("{}: accepted: exactly the lines of a right run on {}\n", path, counted(num_ranks, "rank"));
  return ExitCode::kAllMatch;
}

}  // namespace lab
