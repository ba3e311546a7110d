#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <vector>

#include "common/base/text.h"
#include "common/launch/supervise/cores.h"
#include "grading/judge/commands/commands.h"
#include "grading/judge/commands/own_processes.h"
#include "grading/judge/judge_lab.h"
#include "grading/judge/judging_place.h"
#include "grading/judge/log_evidence.h"
#include "grading/judge/result_files.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/writers.h"
#include "grading/submission/results_folder.h"
#include "grading/submission/submission.h"

namespace lab::grading {
namespace {

struct GradeArguments {
  PlaceOptions place;
  std::string submission, lab, task, out, accepted;
  bool believes = false;
  std::uint64_t seed = 0;
};

/// A seed that the submission's authors cannot know.
std::uint64_t secret_seed() {
  std::random_device source;
  return source() % 1'000'000'000;
}

/// The outcome of an earlier grading, with one task judged again.
LabOutcome with_task(const std::string& folder, const std::string& task, const LabOutcome& again) {
  if (!std::filesystem::exists(folder + "/outcome.json")) return again;
  LabOutcome outcome = read_results(folder);
  outcome.tasks[task] = again.tasks.at(task);
  outcome.answers = again.answers;
  outcome.evidence = again.evidence;
  outcome.needs_look = again.needs_look;
  outcome.notes = again.notes;  // of all files: the whole hand-in was read and built
  outcome.isolation = again.isolation;
  outcome.seconds = again.seconds;
  outcome.seed = fmt::format("{}; {}: {}", outcome.seed.substr(0, outcome.seed.find(';')), task, again.seed);
  return outcome;
}

/// That of a grading that failed, else 8 if something was not judged.
int worst_of(const std::vector<int>& exit_codes) {
  const auto failed = std::find_if(exit_codes.begin(), exit_codes.end(), [](int code) {
    return code != static_cast<int>(ExitCode::kAllMatch) && code != static_cast<int>(ExitCode::kNotJudged);
  });
  return failed != exit_codes.end() ? *failed : *std::max_element(exit_codes.begin(), exit_codes.end());
}

void require_task(const std::string& task, const std::vector<KnownLab>& labs) {
  for (const KnownLab& lab : labs) {
    if (lab.rubric.find_task(task) != nullptr) return;
  }
  throw UsageError(fmt::format("--task {}: expected the id of a task, such as a9.broadcast", task));
}

/// The outcome of a submission that could not be read: the reason, in every task.
LabOutcome unreadable_outcome(const Rubric& rubric, const std::string& reason) {
  LabOutcome outcome;
  outcome.lab = rubric.lab;
  for (const RubricTask& task : rubric.tasks) {
    TaskOutcome& result = outcome.tasks[task.id];
    result.id = task.id;
    result.reason = reason;
  }
  outcome.notes = {reason};
  return outcome;
}

/// What is in the submission; if it cannot be read, nothing, with the reason.
Submission read_or_explain(const std::string& path, const std::vector<KnownLab>& known, const std::string& only_lab) {
  try {
    return read_submission(path, known, only_lab);
  } catch (const UnreadableSubmission& error) {
    fmt::print(stderr, "lab grade: {}; it gets 0 marks\n", error.what());
    return unreadable_submission(path, known, only_lab, error.what());
  }
}

/// What the instructor can do about files that were left out.
void print_needs_look(const LabOutcome& outcome) {
  for (const auto& [file, symbols] : outcome.needs_look) {
    if (symbols.empty()) continue;  // it waits for one of the others
    const std::string names = safe_text(fmt::format("{}", fmt::join(symbols, ",")), ReportLimits::kFindingBytes);
    fmt::print("  {} needs a look: not judged; if these are harmless: --accept '{}'\n", file, names);
  }
}

/// Returns whether everything was judged.
bool grade_lab(const JudgingPlace& place, const JudgedLab& lab, const SubmittedLab& submitted,
               const GradeArguments& options) {
  const Rubric rubric = place.rubric(lab);
  const AcceptedSymbols accepted(options.accepted);
  LabOutcome outcome = submitted.fault.empty()
                           ? judge_lab(lab, rubric, place.builder(lab, accepted), place.sandbox(), submitted.sources,
                                       {options.seed, options.task, options.believes})
                           : unreadable_outcome(rubric, submitted.fault);
  outcome.notes.insert(outcome.notes.begin(), submitted.notes.begin(), submitted.notes.end());
  outcome.answers = submitted.answers;
  outcome.evidence = evidence_of_logs(submitted.answers, lab.expected_log);
  const std::string folder = options.out + "/" + lab.folder;
  if (!options.task.empty()) outcome = with_task(folder, options.task, outcome);
  const LabMarks marks = write_results(folder, rubric, outcome);
  fmt::print("{}  {:.1f} s  {}/report.md\n", headline(marks), outcome.seconds, folder);
  for (const MarkedItem& item : marks.items) {
    if (item.marked_before)
      fmt::print("  {} was marked by hand for another version; see {}/manual.toml\n", item.id, folder);
  }
  print_needs_look(outcome);
  std::fflush(stdout);
  return marks.not_judged == 0;
}

ExitCode grade(GradeArguments options) {
  const JudgingPlace place(options.place);
  std::vector<KnownLab> known;
  for (const JudgedLab& lab : judged_labs())
    known.push_back(known_lab(place.rubric(lab), place.root() + "/" + lab.folder));
  if (!options.task.empty()) {
    require_task(options.task, known);
    if (options.lab.empty()) options.lab = options.task.substr(0, options.task.find('.'));
  }
  const Submission submission = read_or_explain(options.submission, known, options.lab);
  if (options.out.empty()) {
    options.out = results_folder("out/grading", options.submission, submission.identity, known);
    keep_owner(options.out, options.submission, submission.identity);
  }
  const auto grade_item = [&](std::size_t item) {
    SubmittedLab lab = submission.labs[item];
    if (!submission.identity.empty())
      lab.notes.insert(lab.notes.begin(), "handed in by " + to_text(submission.identity));
    lab.notes.insert(lab.notes.end(), submission.notes.begin(), submission.notes.end());
    const bool all_judged = grade_lab(place, judged_lab(lab.lab), lab, options);
    return static_cast<int>(all_judged ? ExitCode::kAllMatch : ExitCode::kNotJudged);
  };
  if (submission.labs.size() == 1) return static_cast<ExitCode>(grade_item(0));
  // One lab alone leaves cores idle, while its program is linked or its ranks wait for each other.
  const std::vector<int> codes = run_forked(submission.labs.size(), launch::usable_cores(), grade_item);
  return codes.empty() ? ExitCode::kAllMatch : static_cast<ExitCode>(worst_of(codes));
}

}  // namespace

void grade_command(cli::App& app) {
  auto& options = app.own(GradeArguments());
  options.place.add_to(app);
  app.add_argument("SUBMISSION", options.submission, "a folder, a zip or a tar, or a5_answers.md");
  app.add_text("--lab", options.lab, "LAB", "only this lab, such as a9");
  app.add_text("--task", options.task, "ID", "only this task, such as a9.broadcast; the other marks stay as they were");
  app.add_text("--out", options.out, "DIR", "where the results go (default: out/grading/WHO)");
  app.add_text("--accept", options.accepted, "SYMBOL[,SYMBOL]...",
               "judge files that use these unlisted symbols, too, such as getenv; '*': whatever they use");
  app.add_flag("--believe", options.believes, "what ranks count of their own work and memory, whatever is seen of it");
  app.add_seed("--seed", options.seed, "of the inputs: replays a grading");
  app.set_action([&] {
    if (!app.given("--seed")) options.seed = secret_seed();
    ::prctl(PR_SET_DUMPABLE, 0);  // other processes of this user must not read what is expected in this one's memory
    return grade(options);
  });
}

}  // namespace lab::grading
