#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/base/text.h"
#include "common/launch/supervise/cores.h"
#include "grading/commands/commands.h"
#include "grading/judge/grade_hand_in.h"
#include "grading/judge/judging_place.h"
#include "grading/judge/result_files.h"
#include "grading/marks/shown_marks.h"
#include "grading/processes/own_processes.h"
#include "grading/submission/results_folder.h"
#include "grading/submission/submission.h"

namespace lab::grading {
namespace {

struct GradeArguments {
  PlaceOptions place;
  std::string submission, lab, out;
  HandInOptions how;
  std::optional<std::uint64_t> seed;
};

/// The outcome of an earlier grading, with one task judged again.
LabOutcome with_task(const std::string& folder, const std::string& task, const LabOutcome& again) {
  if (!std::filesystem::exists(folder + "/outcome.json")) return again;
  LabOutcome outcome = read_results(folder);
  outcome.tasks[task] = again.tasks.at(task);
  outcome.answers = again.answers;
  outcome.evidence = again.evidence;
  outcome.needs_look = again.needs_look;
  outcome.hand_in_notes = again.hand_in_notes;
  outcome.student = again.student;
  outcome.notes = again.notes;  // of all files: the whole hand-in was read and built
  outcome.isolation = again.isolation;
  outcome.seconds = again.seconds;
  outcome.seed = fmt::format("{}; {}: {}", outcome.seed.substr(0, outcome.seed.find(';')), task, again.seed);
  return outcome;
}

/// That of a grading that failed, else 8 if something was not judged.
int find_worst(const std::vector<int>& exit_codes) {
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

/// Returns whether everything was judged.
bool grade_lab(const JudgingPlace& place, const Submission& submission, std::size_t item,
               const GradeArguments& options) {
  const JudgedLab& lab = judged_lab(submission.labs[item].lab);
  LabOutcome outcome = make_outcome(place, submission, item, options.how);
  const Rubric rubric = place.rubric(lab);
  if (!rubric.own_numbers.empty()) outcome.student = submission.identity.id;
  const std::string folder = options.out + "/" + lab.folder;
  if (!options.how.judging.only_task.empty()) outcome = with_task(folder, options.how.judging.only_task, outcome);
  const LabMarks marks = write_results(folder, rubric, outcome);
  fmt::print("{}  {:.1f} s  {}/report.md\n", headline(marks), outcome.seconds, folder);
  for (const MarkedItem& marked : marks.items) {
    if (marked.marked_before)
      fmt::print("  {} was marked by hand for another version; see {}/manual.toml\n", marked.id, folder);
  }
  fmt::print("{}", without_commands(lines_of_needs_look(outcome)));
  std::fflush(stdout);
  return marks.not_judged == 0;
}

/// Prints what the labs' processes have written in the order of the labs.
class InOrder {
 public:
  explicit InOrder(std::size_t count) : ends_(count) {}

  void add(std::size_t item, const ForkedEnd& end) {
    ends_[item] = end;
    for (; num_shown_ < ends_.size() && ends_[num_shown_]; ++num_shown_) {
      fmt::print(stderr, "{}", ends_[num_shown_]->err);
      fmt::print("{}", ends_[num_shown_]->out);
      std::fflush(stdout);
    }
  }
  std::vector<int> exit_codes() const {
    std::vector<int> codes;
    for (const auto& end : ends_) codes.push_back(end->exit_code);
    return codes;
  }

 private:
  std::vector<std::optional<ForkedEnd>> ends_;
  std::size_t num_shown_ = 0;
};

/// The outcome of a submission that cannot be read: nothing of it is judged, which is not 0 marks.
LabOutcome unread_outcome(const Rubric& rubric, const std::string& reason) {
  LabOutcome outcome;
  outcome.lab = rubric.lab;
  for (const RubricTask& task : rubric.tasks) {
    TaskOutcome& result = outcome.tasks[task.id];
    result.id = task.id;
    result.worth = Worth::kNotJudged;
    result.reason = reason;
  }
  outcome.notes = {reason};
  return outcome;
}

/// Says why a submission cannot be read, and leaves that as the results of the lab that it was to be.
ExitCode not_graded(const JudgingPlace& place, const std::vector<KnownLab>& known, GradeArguments options,
                    const UnreadableSubmission& reason) {
  fmt::print(stderr, "lab grade: not graded: {}\n", without_commands(reason.what()));
  const KnownLab* lab = lab_meant_by(options.submission, known, options.lab);
  if (lab == nullptr || !options.how.judging.only_task.empty()) return ExitCode::kNotJudged;
  if (options.out.empty()) {
    options.out = results_folder("out/grading", options.submission, {}, known);
    keep_owner(options.out, options.submission, {});
  }
  const std::string folder = options.out + "/" + lab->rubric.lab;
  const Rubric rubric = place.rubric(judged_lab(lab->rubric.lab));
  const LabMarks marks = write_results(folder, rubric, unread_outcome(rubric, reason.what()));
  fmt::print("{}  {}/report.md\n", headline(marks), folder);
  return ExitCode::kNotJudged;
}

ExitCode grade_submission(const JudgingPlace& place, GradeArguments options, const std::vector<KnownLab>& known,
                          const Submission& submission) {
  if (options.out.empty()) {
    options.out = results_folder("out/grading", options.submission, submission.identity, known);
    keep_owner(options.out, options.submission, submission.identity);
  }
  const auto grade_item = [&](std::size_t item) {
    const bool all_judged = grade_lab(place, submission, item, options);
    return static_cast<int>(all_judged ? ExitCode::kAllMatch : ExitCode::kNotJudged);
  };
  if (submission.labs.size() == 1) return static_cast<ExitCode>(grade_item(0));
  // One lab alone leaves cores idle, while its program is linked or its ranks wait for each other.
  InOrder shown(submission.labs.size());
  const std::optional<int> signal = run_forked({submission.labs.size(), launch::usable_cores(), grade_item,
                                                [&](std::size_t item, const ForkedEnd& end) { shown.add(item, end); }});
  if (signal) return static_cast<ExitCode>(128 + *signal);
  const std::vector<int> codes = shown.exit_codes();
  return codes.empty() ? ExitCode::kAllMatch : static_cast<ExitCode>(find_worst(codes));
}

ExitCode grade(GradeArguments options) {
  const JudgingPlace place(options.place);
  const std::vector<KnownLab> known = known_labs(place);
  if (!options.how.judging.only_task.empty()) {
    require_task(options.how.judging.only_task, known);
    if (options.lab.empty())
      options.lab = options.how.judging.only_task.substr(0, options.how.judging.only_task.find('.'));
  }
  Submission submission;
  try {
    submission = read_submission(options.submission, known, options.lab);
  } catch (const UnreadableSubmission& reason) {
    return not_graded(place, known, std::move(options), reason);
  }
  return grade_submission(place, std::move(options), known, submission);
}

}  // namespace

void grade_command(cli::App& app) {
  auto& options = app.own(GradeArguments());
  options.place.add_to(app);
  app.add_argument("SUBMISSION", options.submission, "a folder, an archive, or a5_answers.md");
  app.add_text("--lab", options.lab, "LAB", "only this lab, such as a9");
  app.add_text("--task", options.how.judging.only_task, "ID",
               "only this task, such as a9.broadcast; the other marks stay as they were");
  app.add_text("--out", options.out, "DIR", "where the results go (default: out/grading/WHO)");
  options.how.add_to(app);
  app.add_seed("--seed", options.seed, "of the inputs, to replay a grading (default: a secret one, new each time)");
  app.set_action([&] {
    options.how.judging.seed = options.seed ? *options.seed : secret_seed();
    ::prctl(PR_SET_DUMPABLE, 0);  // other processes of this user must not read what is expected in this one's memory
    return grade(options);
  });
}

}  // namespace lab::grading
