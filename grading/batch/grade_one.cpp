#include "grading/batch/grade_one.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/course/rubric/content_hash.h"
#include "grading/batch/judging_part.h"
#include "grading/judge/grade_hand_in.h"
#include "grading/judge/result_files.h"
#include "grading/marks/outcome_json.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

std::string hash_file(const std::string& path) {
  return content_hash(read_file(path));
}

std::string name_node() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Why this machine would judge in another way than the one that gave the order; empty: it would not.
std::string explain_other_judging(const JudgingPlace& place, const GradeOrder& order) {
  // Of describe_judging(), each a word; what follows is the seed and the sandbox.
  constexpr std::array kParts = {"labgrade", "rank's program", "rubric"};
  for (const LabOrder& lab : order.labs) {
    const Rubric rubric = place.rubric(judged_lab(lab.lab));
    const std::string own = judging_with(describe_judging(place, rubric, order.seed), lab.decisions);
    if (own == lab.judging) continue;
    const std::vector<std::string_view> here = split(own, ' '), there = split(lab.judging, ' ');
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      if (here[i] != there[i])
        return fmt::format("expected the same {} for {} as where the class is graded from, got another one", kParts[i],
                           lab.lab);
    }
    const auto sandbox = [](const std::string& judging) { return judging.substr(judging.find(" seed ") + 1); };
    return fmt::format("{}: expected \"{}\", got \"{}\"", lab.lab, sandbox(lab.judging), sandbox(own));
  }
  return "";
}

GradedLab grade_lab(const JudgingPlace& place, const Submission& submission, std::size_t item, const LabOrder& lab,
                    const GradeOrder& order, const OrderFile& file) {
  LabOutcome outcome;
  if (lab.outcome.empty()) {
    HandInOptions how;
    how.judging.seed = order.seed;
    how.judging.believes_ranks = lab.decisions.believes_ranks;
    how.accepted = lab.decisions.accepted;
    outcome = make_outcome(place, submission, item, how);
  } else {
    outcome = outcome_from_json(lab.outcome, lab.lab);
    take_hand_in(submission, item, outcome);
  }
  if (!file.is_wanted()) throw UsageError("its result is not wanted any more");
  const Rubric rubric = place.rubric(judged_lab(lab.lab));
  outcome.student = rubric.own_numbers.empty() ? "" : order.student;
  const LabMarks marks = write_results(order.results + "/" + lab.lab, rubric, outcome);
  return {lab.lab, headline(marks), lines_of_needs_look(outcome), outcome_to_json(outcome), outcome.seconds};
}

}  // namespace

std::string describe_judging(const JudgingPlace& place, const Rubric& rubric, std::uint64_t seed) {
  return fmt::format("{} {} {} seed {} {}", hash_file(own_program()),
                     hash_file(place.build() + "/" + kRankFolder + rubric.lab), content_hash(judging_part(rubric)),
                     seed, place.sandbox().level());
}

void OrderFile::open() const {
  write_result({});
}

void OrderFile::begin() const {
  GradedHandIn graded;
  graded.node = name_node();
  write_result(graded);
}

void OrderFile::close() const {
  std::error_code ignored;
  for (const std::string& file : {path_, taken(), result()}) std::filesystem::remove(file, ignored);
}

bool OrderFile::is_wanted() const {
  return std::filesystem::exists(result());
}

std::optional<std::filesystem::file_time_type> OrderFile::sign_of_life() const {
  std::error_code missing;
  const auto time = std::filesystem::last_write_time(taken(), missing);
  return missing ? std::nullopt : std::optional(time);
}

void OrderFile::show_life() const {
  constexpr int kSeconds = 5;
  fork_process([this] {
    const pid_t grader = ::getppid();
    while (is_wanted()) {
      std::error_code ignored;
      std::filesystem::last_write_time(taken(), std::filesystem::file_time_type::clock::now(), ignored);
      ::sleep(kSeconds);
    }
    return ::kill(grader, SIGTERM);
  });
}

/// CBOR, since paths may have bytes that are not UTF-8.
void OrderFile::write(const GradeOrder& order) const {
  std::string bytes;
  nlohmann::json::to_cbor(nlohmann::json(order), bytes);
  write_file_atomically(path_, bytes);
}

GradeOrder OrderFile::take() const {
  std::error_code missing;
  std::filesystem::rename(path_, taken(), missing);
  if (missing)
    throw UsageError(
        fmt::format("{}: expected an order, got: {} on {}; it was given up, or another process has taken "
                    "it, or this node does not see the folder of --out",
                    path_, missing.message(), name_node()));
  begin();
  return nlohmann::json::from_cbor(read_file(taken())).get<GradeOrder>();
}

void OrderFile::write_result(const GradedHandIn& graded) const {
  write_file_atomically(result(), json_text(graded));
}

GradedHandIn OrderFile::read_result() const {
  try {
    return from_json_text<GradedHandIn>(read_file(result()), "the result of a grading");
  } catch (const UsageError&) {
    return {};
  }
}

void carry_out(const JudgingPlace& place, const std::vector<KnownLab>& known, const GradeOrder& order,
               const OrderFile& file) {
  GradedHandIn graded;
  graded.node = name_node();
  try {
    const Submission submission = read_submission({order.path, order.called}, known, order.only_lab);
    const std::map<std::string, std::string> versions = scan(submission).versions;
    for (const LabOrder& lab : order.labs) {
      const auto version = versions.find(lab.lab);
      if (version == versions.end() || version->second != lab.version)
        throw UsageError(lab.lab + ": expected the files that were there when the run began, got others");
    }
    for (std::size_t i = 0; i < submission.labs.size(); ++i) {
      const auto due = std::find_if(order.labs.begin(), order.labs.end(),
                                    [&](const LabOrder& lab) { return lab.lab == submission.labs[i].lab; });
      if (due != order.labs.end()) graded.labs.push_back(grade_lab(place, submission, i, *due, order, file));
    }
  } catch (const std::exception& failure) {
    graded.problem = get_message(failure);
  }
  if (!file.is_wanted()) throw UsageError("its result is not wanted any more");
  graded.is_done = true;
  file.write_result(graded);
}

void carry_out(const JudgingPlace& place, const std::string& path) {
  const OrderFile file(path);
  const GradeOrder order = file.take();
  file.show_life();
  if (const std::string why = explain_other_judging(place, order); !why.empty())
    return file.write_result({name_node(), true, why, {}});
  carry_out(place, known_labs(place), order, file);
}

}  // namespace lab::grading
