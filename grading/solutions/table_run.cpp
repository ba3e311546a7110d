#include "grading/solutions/table_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

using generated::OrdersReport;
using generated::Trial;
using generated::TrialOrder;
using generated::TrialReport;
using generated::TrialRun;

/// The seed of `lab check`.
constexpr std::uint64_t kSeed = 42;

/// A run of a case, and which rows it reaches.
struct KnownRun {
  TrialRun run;
  std::vector<int> reaches;
};

/// Whether all checks of its task must run, whichever fails first.
bool needs_all(const Solution& one) {
  return !one.checks.empty() || !one.says.empty();
}

/// What is known of one row while it is tried.
struct Row {
  int id = 0;
  const Solution* solution = nullptr;
  std::string task;
  std::set<std::string> may_lose;
  bool reached = false, caught = false, named = false, said = false;
  std::set<std::string> failed;  ///< checks of the task
  Verdict verdict;
};

class Table {
 public:
  explicit Table(const TableRun& table) : table_(table) {}

  /// Runs the reference on a size, to learn what each case reaches and how long it takes.
  void learn(int size) {
    if (!learned_.insert(size).second) return;
    TrialOrder order;
    order.notes_places = true;
    order.num_mutants = static_cast<int>(table_.rows.size());
    order.jobs = table_.jobs;
    for (std::size_t i = 0; i < table_.cases.size(); ++i) {
      if (table_.checked.include(table_.cases[i], size)) order.runs.push_back({static_cast<int>(i), size, kSeed, 0});
    }
    for (std::size_t i = 0; i < order.runs.size(); ++i)
      order.trials.push_back({0, {static_cast<int>(i)}, Trial::Until::kEnd});
    for (const TrialReport& report : table_.perform(order)) {
      if (report.runs.empty()) throw UsageError(fmt::format("the reference itself {} in a case", report.ended));
      const OrdersReport& run = report.runs.front();
      TrialRun known = order.runs[static_cast<std::size_t>(run.run)];
      if (run.skipped) continue;
      if (!run.right) throw UsageError(fmt::format("the reference itself fails in {}: {}", find_place(known), run.why));
      known.seconds = run.seconds;
      runs_.push_back({known, run.places});
    }
    // In the table's order, whatever ended first.
    std::stable_sort(runs_.begin(), runs_.end(), [&](const KnownRun& a, const KnownRun& b) {
      return position(a.run.num_ranks) != position(b.run.num_ranks)
                 ? position(a.run.num_ranks) < position(b.run.num_ranks)
                 : a.run.case_index < b.run.case_index;
    });
  }

  /// Performs what `make_runs_json` chooses for each row, up to where `until` says, and tells what came of it.
  template <typename Choose, typename Told>
  void perform(std::vector<Row*> rows, const Choose& choose, Trial::Until until, const Told& told) const {
    TrialOrder order;
    order.jobs = table_.jobs;
    for (const KnownRun& known : runs_) order.runs.push_back(known.run);
    std::map<int, Row*> by_id;
    std::map<int, std::vector<int>> chosen;
    for (Row* row : rows) {
      std::vector<int>& runs = chosen[row->id];
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const KnownRun& known = runs_[i];
        const bool reaches = std::find(known.reaches.begin(), known.reaches.end(), row->id) != known.reaches.end();
        if (reaches && choose(*row, make_case(known.run), known.run.num_ranks)) runs.push_back(static_cast<int>(i));
      }
      by_id[row->id] = row;
      if (runs.empty()) continue;
      row->reached = true;
      order.trials.push_back({row->id, runs, until, row->solution->symptom});
    }
    if (order.trials.empty()) return;
    for (const TrialReport& report : table_.perform(order)) {
      Row& row = *by_id.at(report.id);
      for (const OrdersReport& run : report.runs) {
        if (!run.right && !run.skipped)
          told(row, order.runs[static_cast<std::size_t>(run.run)], fmt::format("{}: {}", run.how, run.why),
               run.symptom);
      }
      const std::vector<int>& runs = chosen.at(report.id);
      if (!report.ended.empty())
        told(row, order.runs[static_cast<std::size_t>(runs[std::min(report.runs.size(), runs.size() - 1)])],
             report.ended, "");
    }
  }

  const Case& make_case(const TrialRun& run) const { return table_.cases[static_cast<std::size_t>(run.case_index)]; }
  std::string find_place(const TrialRun& run) const {
    return fmt::format("{} on {}", make_case(run).name, counted(run.num_ranks, "rank"));
  }

 private:
  std::ptrdiff_t position(int size) const {
    return std::find(table_.sizes.begin(), table_.sizes.end(), size) - table_.sizes.begin();
  }

  const TableRun& table_;
  std::set<int> learned_;
  std::vector<KnownRun> runs_;
};

bool is_among(const std::vector<int>& sizes, int size) {
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

/// What a wrong row that was tried lacks; empty: nothing.
std::string missing_in(const Row& row) {
  const Solution& one = *row.solution;
  if (!row.caught) return fmt::format("{} did not catch it", row.task);
  for (const std::string& check : one.checks) {
    if (row.failed.count(check) == 0)
      return fmt::format("expected {} to fail, got {}", check, fmt::join(row.failed, " "));
  }
  if (!row.said) return fmt::format("expected a check to say '{}', got '{}'", one.says, row.verdict.found);
  if (!one.symptom.empty() && !row.named)
    return fmt::format("expected the symptom {}, got {}", one.symptom,
                       row.verdict.symptom.empty() ? "none" : row.verdict.symptom);
  return "";
}

std::string find_complaint(const Row& row) {
  if (!row.reached) return fmt::format("no case{} reaches it", row.task.empty() ? "" : " of " + row.task);
  return row.solution->right ? "" : missing_in(row);
}

}  // namespace

std::string read_task(const Solution& row, const generated::SourceMutant& mutant) {
  return row.task.empty() && !row.right ? mutant.task : row.task;
}

std::vector<Verdict> TableRun::run(const std::vector<int>& ids) const {
  Table table(*this);
  std::vector<Row> tried;
  for (const int id : ids) {
    Row row;
    row.id = id;
    row.solution = &rows[static_cast<std::size_t>(id - 1)];
    row.task = read_task(*row.solution, *mutants.find(id));
    if (!row.solution->right) {
      row.may_lose = {row.task};
      if (!row.solution->alone) {
        for (const std::string& task : rubric.find_dependents(row.task)) row.may_lose.insert(task);
      }
      row.may_lose.insert(row.solution->also.begin(), row.solution->also.end());
    }
    tried.push_back(std::move(row));
  }
  const auto note = [&](Row& row, const TrialRun& run, const std::string& why, const std::string& symptom) {
    if (!row.caught || (symptom == row.solution->symptom && !row.named)) {
      row.verdict.found = fmt::format("{}: {}", table.find_place(run), why);
      row.verdict.symptom = symptom;
    }
    row.caught = true;
    row.said = row.said || one_line(why).find(row.solution->says) != std::string::npos;
    row.named = row.named || symptom == row.solution->symptom;
    row.failed.insert(table.make_case(run).name);
  };
  const auto is_own = [](const Row& row, const Case& one) { return one.task == row.task; };
  for (const int size : sizes) {
    std::vector<Row*> any, named, complete;
    for (Row& row : tried) {
      const Solution& one = *row.solution;
      if (one.right || missing_in(row).empty()) continue;
      (needs_all(one) ? complete : one.symptom.empty() ? any : named).push_back(&row);
    }
    if (any.empty() && named.empty() && complete.empty()) break;
    table.learn(size);
    const auto here = [&](const Row& row, const Case& one, int on) { return on == size && is_own(row, one); };
    table.perform(any, here, Trial::Until::kWrong, note);
    table.perform(named, here, Trial::Until::kSymptom, note);
    table.perform(complete, here, Trial::Until::kEnd, note);
  }
  for (const int size : wide) table.learn(size);
  std::vector<Row*> all;
  for (Row& row : tried) all.push_back(&row);
  std::map<int, std::string> lost;
  table.perform(
      all,
      [&](const Row& row, const Case& one, int on) { return is_among(wide, on) && row.may_lose.count(one.task) == 0; },
      Trial::Until::kWrong,
      [&](Row& row, const TrialRun& run, const std::string& why, const std::string&) {
        lost.emplace(row.id, fmt::format("{} lost marks{} ({}: {})", table.make_case(run).task,
                                         row.solution->right ? "" : ", too", table.find_place(run), why));
      });
  std::vector<Verdict> verdicts;
  for (Row& row : tried) {
    std::string complaint = find_complaint(row);
    if (complaint.empty()) complaint = lost[row.id];
    row.verdict.complaint = one_line(complaint);
    row.verdict.as_required = complaint.empty();
    verdicts.push_back(row.verdict);
  }
  return verdicts;
}

}  // namespace lab::grading
