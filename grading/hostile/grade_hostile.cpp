#include "grading/hostile/grade_hostile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/launch/supervise/orphans.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/processes.h"
#include "grading/hostile/hostile_place.h"

namespace lab::grading {
namespace {

/// What results.json says.
struct ReadResults {
  std::map<std::string, double> marks;  ///< by item, of those that earned any
  std::string of_task, of_all;          ///< what is said of the entry's task, and of the whole hand-in
  std::string level;
};

ReadResults read_results_json(const std::string& text, const std::string& task) {
  const nlohmann::json json = nlohmann::json::parse(text);
  ReadResults results;
  for (const std::string& line : list_lines(json.at("output").get<std::string>())) {
    if (line.rfind("isolation: ", 0) != 0) results.of_all += line;  // it speaks of limits, whatever happened
  }
  results.level = json.at("extra_data").at("isolation").get<std::string>();
  for (const nlohmann::json& test : json.at("tests")) {
    const auto id = test.at("extra_data").at("id").get<std::string>();
    const double marks = test.value("score", 0.0);
    if (marks != 0) results.marks[id] = marks;
    if (id == task) results.of_task = test.at("output").get<std::string>();
  }
  return results;
}

bool is_clean(const std::string& text) {
  return safe_text(text, std::numeric_limits<std::size_t>::max()) == text;
}

/// What is wrong with the marks; empty: nothing.
std::string complaint_about(const std::map<std::string, double>& marks, const HostileEntry& entry) {
  constexpr double kRounding = 1e-6;
  std::vector<std::string> wrong;
  for (const auto& [id, earned] : marks) {
    const double allowed = id == entry.task ? entry.marks : 0;
    if (std::abs(earned - allowed) > kRounding) wrong.push_back(fmt::format("{} earned {:g} marks", id, earned));
  }
  if (entry.marks != 0 && marks.count(entry.task) == 0) wrong.push_back(entry.task + " earned nothing");
  return fmt::format("{}", fmt::join(wrong, ", "));
}

/// What a reader of the report gets to see that he must not, or does not get to see.
std::vector<std::string> complaints_about_report(const HostileEntry& entry, const ReadResults& results,
                                                 const HostileGrading& grading) {
  std::vector<std::string> complaints;
  const std::string said = results.of_task + "\n" + results.of_all;
  const bool says_it = std::any_of(entry.says.begin(), entry.says.end(),
                                   [&](const std::string& text) { return said.find(text) != std::string::npos; });
  if (!entry.says.empty() && !says_it)
    complaints.push_back(fmt::format("the report does not say {}", fmt::join(entry.says, ", nor ")));
  std::vector<std::string> all = grading.reports;
  all.push_back(grading.results_json);
  for (const std::string& text : all) {
    const std::size_t breach = text.find(kBreach);
    if (breach == std::string::npos) continue;
    complaints.push_back(one_line(text.substr(breach, 100)));
    break;
  }
  if (grading.told_secret) complaints.emplace_back("a secret is told");
  return complaints;
}

}  // namespace

Verdict hostile_verdict(const HostileEntry& entry, bool isolated, const HostileGrading& grading) {
  Verdict verdict;
  verdict.seconds = grading.seconds;
  const bool may_succeed = !isolated && !entry.at_limits.empty();
  std::vector<std::string> complaints;
  if (!grading.fault.empty()) complaints.push_back(grading.fault);
  if (grading.results_json.empty()) {
    complaints.emplace_back("there is no results.json");
  } else {
    const ReadResults results = read_results_json(grading.results_json, entry.task);
    verdict.level = results.level;
    verdict.found = one_line(results.of_task);
    if (!may_succeed) {
      if (std::string about_marks = complaint_about(results.marks, entry); !about_marks.empty())
        complaints.push_back(std::move(about_marks));
      for (std::string& complaint : complaints_about_report(entry, results, grading))
        complaints.push_back(std::move(complaint));
    }
    if (!is_clean(results.of_task) || !is_clean(results.of_all) ||
        !std::all_of(grading.reports.begin(), grading.reports.end(), is_clean))
      complaints.emplace_back("the report has characters that a terminal may obey");
  }
  complaints.insert(complaints.end(), grading.damage.begin(), grading.damage.end());
  verdict.complaint = one_line(fmt::format("{}", fmt::join(complaints, "; ")));
  verdict.as_required = complaints.empty();
  return verdict;
}

namespace {

constexpr char kMarkVariable[] = "LAB_HOSTILE";

ProcessSpec make_grade_command(const HostileEntry& entry, const std::string& hand_in, const HostilePlace& place,
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
       {find_children(::getpid()), processes_with_variable(fmt::format("{}={}", kMarkVariable, place.mark())),
        processes_in(place.temporary())})
    left.insert(found.begin(), found.end());
  for (const pid_t pid : own) left.erase(pid);
  return left;
}

std::string describe_fault(const ProgramEnd& end) {
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

Verdict grade_hostile(const HostileEntry& entry, const std::string& lab_folder, const HostileSuite& suite) {
  const launch::RunDirectory work;
  HostilePlace place(work.path(), suite.source, suite.build);
  const ProcessSpec command = make_grade_command(entry, place.hand_in(entry, lab_folder), place, suite);

  const std::vector<pid_t> own = find_children(::getpid());
  launch::Orphans orphans;  // what the grading leaves behind becomes ours
  const auto start = std::chrono::steady_clock::now();
  const ProgramEnd end = run_program(command, entry.most_seconds);
  HostileGrading grading;
  grading.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!becomes_true([&] { return left_processes(place, own).empty(); }))
    grading.damage.push_back(fmt::format("{} of its processes still run", left_processes(place, own).size()));
  orphans.kill_all();
  for (const std::string& line : place.damage()) grading.damage.push_back(line);

  grading.fault = describe_fault(end);
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
