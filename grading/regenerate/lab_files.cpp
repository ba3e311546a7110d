#include "grading/regenerate/lab_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

constexpr char kHeader[] =
    R"(# The lines that a right run prints, for `lab check-log`. A heading is written by hand and names the run's command and
# options (others are left at their defaults, or change no line); `lab regenerate` asks the lab for all the rest.
#   ranks 1-4,8    the numbers of ranks whose lines are known
#   RANKS | KIND | CONTENT
#     RANKS: on which ranks: all, 0, 0-2, last; "on 1-3,8": only in runs on 1, 2, 3 or 8 ranks; a semicolon separates cases
#     KIND: text, with fields such as {number}; True, with the largest max diff; False, with the exact figures, if they
#       are known; skipped, with the reason
)";

std::string run_for_output(const std::vector<std::string>& argv, const std::string& scratch) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.folder = scratch;
  spec.input = "";
  const ProgramEnd end = run_program(spec);
  if (!end.well()) throw UsageError(fmt::format("{} {}: {}", argv[0], argv[1], end.message()));
  return end.out;
}

std::vector<std::string> runs_in(const std::string& text) {
  std::vector<std::string> runs;
  for (const std::string& whole : list_lines(text)) {
    const std::string line(without_line_break(whole));
    if (line == "run" || line.rfind("run ", 0) == 0) runs.push_back(line.substr(3));
  }
  return runs.empty() ? std::vector<std::string>{""} : runs;
}

bool near(double a, double b, double share, double more) {
  return a <= b * (1 + share) + more && b <= a * (1 + share) + more;
}

}  // namespace

std::string expected_log(const std::string& program, const std::string& present, const std::string& scratch) {
  std::string text = kHeader;
  for (const std::string& run : runs_in(present)) {
    std::istringstream words(run);
    std::vector<std::string> argv = {program};
    for (std::string word; words >> word;) argv.push_back(word);
    const bool has_command = argv.size() > 1 && argv[1][0] != '-';
    argv.insert(argv.begin() + (has_command ? 2 : 1), "expected-log");
    text += "\n" + run_for_output(argv, scratch);
  }
  return text;
}

std::string reference_figures(const std::string& program, const std::string& scratch) {
  const std::string file = scratch + "/figures.json";
  run_for_output({program, "check", "--nproc", "4", "--figures", file}, scratch);
  return read_file(file);
}

std::string differing_figures(const std::string& recorded, const std::string& now, bool other_libtorch) {
  const double operations = other_libtorch ? 16 : 0, workspace = other_libtorch ? 65536 : 0;
  const auto before = nlohmann::json::parse(recorded, nullptr, false), after = nlohmann::json::parse(now);
  if (!before.is_object()) return "expected a JSON object, got something else";
  for (const auto& [name, figures] : after.items()) {
    if (!before.contains(name)) return fmt::format("{} is not recorded", name);
    const std::vector<double> a = before[name], b = figures;  // model time, bytes sent, peak bytes, operations
    const bool alike = a.size() == 4 && near(a[0], b[0], 0.01, 0) && a[1] == b[1] && b[2] <= 1.25 * a[2] + workspace &&
                       b[2] >= 0.25 * a[2] && near(a[3], b[3], 0.01, operations);
    if (!alike) return fmt::format("{}: recorded {}, now {}", name, before[name].dump(), figures.dump());
  }
  for (const auto& [name, figures] : before.items()) {
    if (!after.contains(name)) return fmt::format("{} is recorded, but there is no such case", name);
  }
  return "";
}

}  // namespace lab::grading
