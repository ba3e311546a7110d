#include "grading/hostile/grade_hostile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "common/base/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/orphans.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/processes.h"
#include "grading/hostile/hostile_place.h"

namespace lab::grading {
namespace {

constexpr char kMarkVariable[] = "LAB_HOSTILE";

ProcessSpec grade_command_of(const HostileEntry& entry, const std::string& hand_in, const HostilePlace& place,
                             const HostileSuite& suite) {
  ProcessSpec command;
  command.argv = {own_program(),
                  "grade",
                  hand_in,
                  "--lab",
                  entry.lab,
                  "--out",
                  place.results(),
                  "--source",
                  place.source(),
                  "--build",
                  place.build(),
                  "--seed",
                  std::to_string(suite.seed),
                  "--accept",  // what somebody has looked at and not understood is held by the other walls
                  "*"};
  if (!suite.isolated) command.argv.emplace_back("--no-sandbox");
  command.folder = place.working_folder();
  command.environment = {{"TMPDIR", place.temporary()}, {"HOME", place.home()}, {kMarkVariable, place.mark()}};
  return command;
}

/// What the grading has started and not ended. `own`: children that this process had before.
std::set<pid_t> left_processes(const HostilePlace& place, const std::vector<pid_t>& own) {
  std::set<pid_t> left;
  // Those of which it is the parent now, those with its environment, and those that run there.
  for (const std::vector<pid_t>& found :
       {children_of(::getpid()), processes_with_variable(fmt::format("{}={}", kMarkVariable, place.mark())),
        processes_in(place.temporary())})
    left.insert(found.begin(), found.end());
  for (const pid_t pid : own) left.erase(pid);
  return left;
}

std::string fault_of(const ProgramEnd& end) {
  const bool not_judged = WIFEXITED(end.status) && WEXITSTATUS(end.status) == static_cast<int>(ExitCode::kNotJudged);
  const bool graded = end.well() || (not_judged && !end.timed_out);
  return graded ? "" : "the grading " + end.message();
}

/// The texts of the results, but not the hand-in's own answers.
std::map<std::string, std::string> texts_of_results(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (entry.is_regular_file() && path.parent_path().filename() != "answers")
      texts[path.filename().string()] = read_file(path.string());
  }
  return texts;
}

}  // namespace

HostileVerdict grade_hostile(const HostileEntry& entry, const std::string& lab_folder, const HostileSuite& suite) {
  const launch::RunDirectory work;
  HostilePlace place(work.path(), suite.source, suite.build);
  const ProcessSpec command = grade_command_of(entry, place.hand_in(entry, lab_folder, suite.corpus), place, suite);

  const std::vector<pid_t> own = children_of(::getpid());
  launch::Orphans orphans;  // what the grading leaves behind becomes ours
  const auto start = std::chrono::steady_clock::now();
  const ProgramEnd end = run_program(command, entry.most_seconds);
  HostileGrading grading;
  grading.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!soon([&] { return left_processes(place, own).empty(); }))
    grading.damage.push_back(fmt::format("{} of its processes still run", left_processes(place, own).size()));
  orphans.kill_all();
  for (const std::string& line : place.damage()) grading.damage.push_back(line);

  grading.fault = fault_of(end);
  std::map<std::string, std::string> texts = texts_of_results(place.results());
  texts["printed"] = end.out + end.err;
  grading.told_secret =
      std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return place.is_told_by(text.second); });
  grading.results_json = texts["results.json"];
  for (const char* read_by_people : {"report.md", "manual.toml", "printed"})
    grading.reports.push_back(texts[read_by_people]);
  return hostile_verdict(entry, suite.isolated, grading);
}

}  // namespace lab::grading
