#include "grading/batch/grade_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "grading/batch/class_files.h"
#include "grading/batch/class_folder.h"
#include "grading/batch/class_marks.h"
#include "grading/batch/class_overview.h"
#include "grading/batch/graders.h"
#include "grading/judge/result_files.h"
#include "grading/marks/outcome_json.h"
#include "grading/marks/shown_marks.h"
#include "grading/submission/lab_places.h"
#include "grading/submission/results_folder.h"

namespace lab::grading {
namespace {

constexpr std::size_t kMostOfProblem = 1000;

/// Minutes and seconds, roughly.
std::string about(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / 60);
}

std::vector<std::string> list_names(const std::vector<KnownLab>& labs) {
  std::vector<std::string> names;
  for (const KnownLab& lab : labs) names.push_back(lab.rubric.lab);
  return names;
}

class GradingOfClass {
 public:
  GradingOfClass(const JudgingPlace& place, ClassOrder order)
      : place_(place),
        order_(std::move(order)),
        known_(known_labs(place)),
        graders_(place, known_, order_.graders),
        files_(order_, list_names(known_)) {
    store_ = std::make_unique<ResultStore>(order_.out + "/results.sqlite");
    choose_seed();
  }

  ExitCode run() {
    folder_ = std::make_unique<ClassFolder>(order_.source, order_.out, known_, files_.roster());
    for (const std::string& note : folder_->hand_ins().notes) print_note(note);
    for (const std::string& note : folder_->hand_ins().lost) print_note(note);
    const std::vector<ScannedHandIn> scanned = scan_all();
    if (signal_) return stopped();
    plan_ = plan_class(folder_->hand_ins(), scanned, files_.roster(),
                       [&](const HandIn& one, const Identity& identity) { return folder_for(one, identity); });
    choose_due(plan_, order_.choice, store_->all_without_outcomes(), judging_of_labs());
    students_ = list_students(plan_, files_.roster());
    say_plan();
    grade_due();
    if (signal_) return stopped();
    const std::size_t num_open = write_marks() + folder_->hand_ins().lost.size();
    return num_open == 0 ? ExitCode::kAllMatch : ExitCode::kNotJudged;
  }

 private:
  void choose_seed() {
    const std::optional<std::string> kept = store_->note("seed");
    std::optional<std::uint64_t> seed = order_.seed;
    if (!seed && kept) seed = option::integer<std::uint64_t>(*kept);
    order_.how.judging.seed = seed ? *seed : secret_seed();
    store_->set_note("seed", std::to_string(order_.how.judging.seed));
  }

  std::vector<ScannedHandIn> scan_all() {
    std::vector<Described> described;
    signal_ = folder_->describe_all(
        order_.graders.jobs, [](const Submission& one) { return json_text(scan(one)); }, described);
    std::vector<ScannedHandIn> scanned;
    for (const Described& one : described) {
      scanned.push_back(one.text.empty() ? ScannedHandIn()
                                         : from_json_text<ScannedHandIn>(one.text, "what is in a hand-in"));
      if (!one.problem.empty()) scanned.back().problem = one.problem;
    }
    return scanned;
  }

  /// The folder's name within the folder of all results, which belongs to this student from now on.
  std::string folder_for(const HandIn& hand_in, const Identity& identity) const {
    const std::string folder = results_folder(order_.out, hand_in.path, identity, known_);
    keep_owner(folder, hand_in.shown, identity);
    return std::filesystem::path(folder).filename().string();
  }

  std::map<std::string, std::string> judging_of_labs() const {
    std::map<std::string, std::string> judging;
    for (const KnownLab& lab : known_)
      judging[lab.rubric.lab] = describe_judging(place_, lab.rubric, order_.how.judging.seed);
    return judging;
  }

  std::string get_result_folder(const PlannedHandIn& one, const std::string& lab) const {
    return order_.out + "/" + one.who + "/" + lab;
  }

  /// Results whose files have not survived: the machine may have gone down after they were kept.
  std::vector<std::string> lost_files(const PlannedHandIn& one) const {
    std::vector<std::string> lost;
    for (const std::string& lab : one.labs) {
      if (std::find(one.due.begin(), one.due.end(), lab) != one.due.end() || !store_->find(one.who, lab)) continue;
      const std::string file = get_result_folder(one, lab) + "/outcome.json";
      std::error_code missing;
      if (std::filesystem::file_size(file, missing) == 0 || missing) lost.push_back(lab);
    }
    return lost;
  }

  void say_plan() {
    std::size_t num_labs = 0;
    for (const PlannedHandIn& one : plan_.hand_ins) num_labs += one.labs.size();
    for (std::size_t i = 0; i < plan_.hand_ins.size(); ++i) {
      const PlannedHandIn& one = plan_.hand_ins[i];
      for (const std::string& note : one.open) print_note(note);
      for (const std::string& note : one.notes) print_note(note);
      lost_[i] = lost_files(one);
      if (!one.due.empty() || !lost_[i].empty()) to_do_.push_back(i);
      num_due_ += one.due.size();
    }
    const std::string missing =
        plan_.missing.empty() ? "" : fmt::format(", {} of the roster without one", plan_.missing.size());
    fmt::print("{}{}: {} to grade, {} as before; seed {}\n", counted(plan_.hand_ins.size(), "hand-in"), missing,
               num_due_, num_labs - num_due_, order_.how.judging.seed);
    std::fflush(stdout);
  }

  GradeOrder make_order(const PlannedHandIn& one, const std::map<std::string, std::string>& known) const {
    const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
    GradeOrder order = {absolute(one.hand_in.path),
                        one.hand_in.called,
                        order_.source.only_lab,
                        absolute(order_.out + "/" + one.who),
                        one.identity.id,
                        order_.how.judging.seed,
                        {}};
    for (const std::string& lab : one.labs) {
      const auto found = known.find(lab);
      if (found == known.end() && std::find(one.due.begin(), one.due.end(), lab) == one.due.end()) continue;
      order.labs.push_back({lab, one.scanned.versions.at(lab), one.judging.at(lab), one.decisions.at(lab),
                            found == known.end() ? "" : found->second});
    }
    return order;
  }

  /// Code that several have handed in is judged once.
  void grade_due() {
    start_ = std::chrono::steady_clock::now();
    const GradingRounds rounds =
        plan_rounds(plan_, to_do_, order_.choice.again ? std::vector<StoredResult>() : store_->all_without_outcomes());
    grade_some(rounds.own_code, rounds);
    if (!signal_) grade_some(rounds.same_code, rounds);
  }

  /// The outcome of the same code, if it is known: what the machine kept from being judged is not.
  std::optional<std::string> same_outcome(const PlannedHandIn& one, const std::string& lab,
                                          const GradingRounds& rounds) const {
    const std::optional<StoredResult> found = store_->find(rounds.sources.at(code_key(one, lab)), lab);
    if (!found || found->judging != one.judging.at(lab)) return std::nullopt;
    const LabOutcome outcome = outcome_from_json(found->outcome, lab);
    for (const auto& [id, task] : outcome.tasks) {
      if (task.not_judged()) return std::nullopt;
    }
    return found->outcome;
  }

  /// Outcomes of a hand-in that are taken as they are, by lab: their files are lost, or somebody else has the same code.
  std::map<std::string, std::string> known_outcomes(std::size_t place, const GradingRounds& rounds) const {
    const PlannedHandIn& one = plan_.hand_ins[place];
    std::map<std::string, std::string> known;
    for (const std::string& lab : lost_.at(place)) known[lab] = store_->find(one.who, lab)->outcome;
    for (const std::string& lab : one.due) {
      if (rounds.sources.at(code_key(one, lab)) == one.who) continue;
      if (const auto outcome = same_outcome(one, lab, rounds)) known[lab] = *outcome;
    }
    return known;
  }

  void grade_some(const std::vector<std::size_t>& places, const GradingRounds& rounds) {
    std::vector<GradeOrder> orders;
    for (const std::size_t place : places) {
      const PlannedHandIn& one = plan_.hand_ins[place];
      orders.push_back(make_order(one, known_outcomes(place, rounds)));
      // Read here, so that not every process does.
      for (const std::string& lab : one.due) place_.recipe(judged_lab(lab));
    }
    signal_ = graders_.run(orders, [&](std::size_t order, const GradedHandIn& graded) {
      say_progress();
      take(plan_.hand_ins[places[order]], graded);
      std::fflush(stdout);
    });
  }

  void say_progress() {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double per_item = seconds / static_cast<double>(++num_done_);
    const double left = per_item * static_cast<double>(to_do_.size() - num_done_);
    fmt::print("[{}/{}, about {} left] ", num_done_, to_do_.size(), about(left));
  }

  void take(const PlannedHandIn& one, const GradedHandIn& graded) {
    const std::string node = graded.node.empty() ? "" : " on " + graded.node;
    if (!graded.problem.empty()) {
      failed_[one.who] =
          safe_text(fmt::format("{}: not judged{}: {}", one.hand_in.shown, node, graded.problem), kMostOfProblem);
      return fmt::print("{}: {}\n", one.who, without_commands(failed_[one.who]));
    }
    std::vector<StoredResult> results;
    bool is_first = true;
    for (const GradedLab& result : graded.labs) {
      const std::string& lab = result.lab;
      fmt::print("{}{}  {}  {:.1f} s{}  {}/report.md\n", is_first ? "" : "  ", one.who, result.headline, result.seconds,
                 node, get_result_folder(one, lab));
      is_first = false;
      fmt::print("{}", without_commands(result.needs_look));
      if (std::find(one.due.begin(), one.due.end(), lab) == one.due.end()) continue;
      results.push_back(
          {one.who, lab, one.hand_in.shown, one.scanned.versions.at(lab), one.judging.at(lab), result.outcome});
    }
    store_->keep(results);
  }

  /// The labs that this run was asked for: the one that was named, or those that are handed in.
  std::set<std::string> asked_labs() const {
    if (!order_.source.only_lab.empty()) return {lab_named(order_.source.only_lab, known_).rubric.lab};
    std::set<std::string> asked;
    for (const PlannedHandIn& one : plan_.hand_ins) asked.insert(one.labs.begin(), one.labs.end());
    return asked;
  }

  /// Of all results that are kept, with what was marked by hand meanwhile. Of a lab that was asked for, only those of what
  /// is handed in now.
  /// Returns   how many students somebody has to look at
  std::size_t write_marks() {
    std::map<std::pair<std::string, std::string>, std::string> versions;
    for (const StoredResult& one : store_->all_without_outcomes()) versions[{one.who, one.lab}] = one.version;
    const std::set<std::string> asked = asked_labs();
    ClassFiles::MarkedLabs labs;
    ClassOverview overview;
    for (MarkedStudent& student : students_) {
      if (const auto why = failed_.find(student.who); why != failed_.end()) student.open.push_back(why->second);
    }
    for (const KnownLab& lab : known_) {
      const std::string& name = lab.rubric.lab;
      bool any = false;
      for (MarkedStudent& student : students_) {
        const auto kept = versions.find({student.who, name});
        const auto handed_in = student.handed_in.find(name);
        const bool is_handed_in = handed_in != student.handed_in.end();
        if (student.who.empty() || (asked.count(name) != 0 && !is_handed_in)) continue;
        if (is_handed_in && kept == versions.end() && failed_.count(student.who) == 0)
          look_at(student, shorten_name(name) + " is not graded");
        if (kept == versions.end()) continue;
        any = true;
        if (is_handed_in && kept->second != handed_in->second) {
          student.withheld[name] = "the marks are those of an earlier hand-in";
          look_at(student, fmt::format("{}: {}", shorten_name(name), student.withheld[name]));
        }
        mark(student, lab, overview);
      }
      if (any) labs.all.push_back(name);
      if (asked.count(name) != 0) labs.asked.push_back(name);
    }
    return files_.write(students_, labs, overview);
  }

  void mark(MarkedStudent& student, const KnownLab& lab, ClassOverview& overview) const {
    const std::string& name = lab.rubric.lab;
    const std::string folder = order_.out + "/" + student.who + "/" + name;
    try {
      LabOutcome outcome = read_results(folder);
      outcome.student = lab.rubric.own_numbers.empty() ? "" : student.identity.id;
      LabMarks marks = write_results(folder, lab.rubric, outcome);
      if (marks.not_judged > 0)
        student.open.push_back(
            fmt::format("{}: {} marks are not judged", shorten_name(name), shown_marks(marks.not_judged)));
      overview.add(student.who, marks, outcome);
      student.labs[name] = std::move(marks);
    } catch (const UsageError& error) {
      look_at(student, error.what());
    }
  }

  static void look_at(MarkedStudent& student, const std::string& why) {
    print_note(student.who + ": " + why);
    student.open.push_back(why);
  }

  ExitCode stopped() const {
    fmt::print(stderr, "lab grade-all: stopped; what is graded is kept: the same command goes on\n");
    return static_cast<ExitCode>(128 + *signal_);
  }

  const JudgingPlace& place_;
  ClassOrder order_;
  const std::vector<KnownLab> known_;
  Graders graders_;
  const ClassFiles files_;
  std::unique_ptr<ClassFolder> folder_;
  std::unique_ptr<ResultStore> store_;
  ClassPlan plan_;
  std::vector<MarkedStudent> students_;
  std::map<std::size_t, std::vector<std::string>> lost_;  ///< by hand-in
  std::vector<std::size_t> to_do_;                        ///< hand-ins of which something is due or lost
  std::size_t num_due_ = 0;
  std::size_t num_done_ = 0;  ///< of to_do_
  std::chrono::steady_clock::time_point start_;
  std::map<std::string, std::string> failed_;  ///< by folder of results: why it could not be graded
  std::optional<int> signal_;
};

}  // namespace

ExitCode grade_class(const JudgingPlace& place, ClassOrder order) {
  return GradingOfClass(place, std::move(order)).run();
}

}  // namespace lab::grading
