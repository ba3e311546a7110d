#include "grading/solutions/generated/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::grading::generated {
namespace {

const std::vector<int> kSweptSizes = {1, 2, 3, 4, 5, 6, 7, 8};

Fate* describe_fate(std::vector<Fate>& fates, int id) {
  const auto found = std::find_if(fates.begin(), fates.end(), [&](const Fate& fate) { return fate.mutant->id == id; });
  return found == fates.end() ? nullptr : &*found;
}

bool passes(const OrdersReport& reference, int id) {
  return std::binary_search(reference.places.begin(), reference.places.end(), id);
}

/// Not caught, and no difference is known yet.
bool is_open(const Fate& fate) {
  return fate.kind == Fate::Kind::kSurvived && fate.differs.empty();
}

/// "time 120 140 -> 120 160", shortened.
std::string difference(const std::string& kind, const std::string& before, const std::string& after) {
  constexpr std::size_t kMost = 160;
  std::string text = fmt::format("{} {} -> {}", kind, before, after);
  return kind == "results" || text.size() > kMost
             ? kind + " " + (kind == "results" ? "" : text.substr(kind.size() + 1, kMost))
             : text;
}

}  // namespace

std::string Campaign::find_place(const TrialRun& run) const {
  const std::string at_seed = run.seed == seed ? "" : fmt::format(" with seed {}", run.seed);
  return fmt::format("{} on {}{}", cases[static_cast<std::size_t>(run.case_index)].name, counted(run.num_ranks, "rank"),
                     at_seed);
}

std::vector<TrialRun> Campaign::runs_on(const std::vector<int>& on_sizes,
                                        const std::vector<std::uint64_t>& seeds) const {
  std::vector<TrialRun> runs;
  for (const std::uint64_t each_seed : seeds) {
    for (const int size : on_sizes) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const bool affordable = each_seed == seed && sizes.include(cases[i], size);
        if (!cases[i].costly || affordable) runs.push_back({static_cast<int>(i), size, each_seed, 0});
      }
    }
  }
  return runs;
}

Campaign::Known Campaign::with_reference(std::vector<TrialRun> runs, bool must_be_right) const {
  TrialOrder order;
  order.notes_places = true;
  for (const SourceMutant* mutant : mutants.all()) order.num_mutants = std::max(order.num_mutants, mutant->id);
  order.jobs = jobs;
  order.runs = runs;
  for (std::size_t i = 0; i < runs.size(); ++i) order.trials.push_back({0, {static_cast<int>(i)}, Trial::Until::kEnd});
  OrdersReport none;
  none.skipped = true;
  Known known{std::move(runs), {}, {}};
  known.reference.resize(known.runs.size(), none);
  for (const TrialReport& report : perform(order)) {
    if (report.runs.empty()) {
      if (must_be_right) throw UsageError(fmt::format("the reference itself {} in a case", report.ended));
      continue;
    }
    const OrdersReport& run = report.runs.front();
    const auto index = static_cast<std::size_t>(run.run);
    if (!run.right && !run.skipped && must_be_right)
      throw UsageError(fmt::format("the reference itself fails in {}: {}", find_place(known.runs[index]), run.why));
    known.runs[index].seconds = run.seconds;
    known.reference[index] = run;
    known.reference[index].skipped = run.skipped || !run.right;
  }
  order.notes_places = false;
  order.trials.clear();
  for (std::size_t i = 0; i < known.runs.size(); ++i) {
    if (!known.reference[i].skipped) order.trials.push_back({0, {static_cast<int>(i)}, Trial::Until::kEnd});
  }
  for (const TrialReport& report : perform(order)) {
    for (const OrdersReport& again : report.runs) {
      const auto index = static_cast<std::size_t>(again.run);
      if (again.fingerprint == known.reference[index].fingerprint) {
        known.same[again.run] = again.fingerprint;
      } else {
        say(fmt::format("the reference is not the same twice: {}", find_place(known.runs[index])));
      }
    }
  }
  return known;
}

std::vector<int> Campaign::runs_for(int id, const Known& known) const {
  const std::string& task = mutants.find(id)->task;
  std::vector<int> chosen;
  for (std::size_t i = 0; i < known.runs.size(); ++i) {
    if (!known.reference[i].skipped && passes(known.reference[i], id)) chosen.push_back(static_cast<int>(i));
  }
  // The task's own cases see most; then the quickest.
  std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) {
    const auto key = [&](int run) {
      const TrialRun& place = known.runs[static_cast<std::size_t>(run)];
      return std::make_tuple(cases[static_cast<std::size_t>(place.case_index)].task != task, place.seconds);
    };
    return key(a) < key(b);
  });
  return chosen;
}

std::set<int> Campaign::cases_for(int id, const Known& known) const {
  std::set<int> indices;
  for (const int run : runs_for(id, known)) indices.insert(known.runs[static_cast<std::size_t>(run)].case_index);
  return indices;
}

void Campaign::try_on(const Known& known, std::vector<Fate>& fates) const {
  TrialOrder order;
  order.jobs = jobs;
  order.runs = known.runs;
  for (Fate& fate : fates) {
    if (fate.kind != Fate::Kind::kSurvived) continue;
    const std::vector<int> chosen = runs_for(fate.mutant->id, known);
    fate.reached = fate.reached || !chosen.empty();
    if (!chosen.empty()) order.trials.push_back({fate.mutant->id, chosen, Trial::Until::kWrong});
  }
  for (const TrialReport& report : perform(order)) {
    Fate& fate = *describe_fate(fates, report.id);
    const auto wrong = std::find_if(report.runs.begin(), report.runs.end(),
                                    [](const OrdersReport& run) { return !run.right && !run.skipped; });
    if (wrong != report.runs.end()) {
      fate.kind = Fate::Kind::kByCheck;
      fate.symptom = wrong->symptom;
      fate.by = fmt::format("{}: {}: {}", find_place(known.runs[static_cast<std::size_t>(wrong->run)]), wrong->how,
                            wrong->why);
    } else if (!report.ended.empty()) {
      const auto trial =
          std::find_if(order.trials.begin(), order.trials.end(), [&](const Trial& one) { return one.id == report.id; });
      const auto run = static_cast<std::size_t>(trial->runs[std::min(report.runs.size(), trial->runs.size() - 1)]);
      fate.kind = Fate::Kind::kByCheck;
      fate.by = fmt::format("{}: {}", find_place(known.runs[run]), report.ended);
    } else {
      compare(known, report, fate);
    }
  }
}

void Campaign::compare(const Known& known, const TrialReport& report, Fate& fate) const {
  if (!fate.differs.empty()) return;
  for (const OrdersReport& run : report.runs) {
    const auto expected = known.same.find(run.run);
    if (expected == known.same.end()) continue;
    for (const auto& [kind, print] : expected->second) {
      const auto found = run.fingerprint.find(kind);
      const std::string now = found == run.fingerprint.end() ? "none" : found->second;
      if (now == print) continue;
      fate.differs.insert(kind);
      const std::string at = find_place(known.runs[static_cast<std::size_t>(run.run)]);
      fate.differs_at += fmt::format("{}{}", fate.differs_at.empty() ? at + ": " : "; ", difference(kind, print, now));
    }
    if (!fate.differs.empty()) return;
  }
}

void Campaign::judge_rest(const Known& known, std::vector<Fate>& fates) const {
  if (!judge) return;
  std::vector<std::pair<int, std::set<std::string>>> rest;
  for (const Fate& fate : fates) {
    const bool open = fate.kind == Fate::Kind::kSurvived || (fate.kind == Fate::Kind::kEqual && fate.reason.empty());
    if (!open || !fate.reached) continue;
    std::set<std::string> tasks;
    for (const int index : cases_for(fate.mutant->id, known)) tasks.insert(cases[static_cast<std::size_t>(index)].task);
    rest.emplace_back(fate.mutant->id, tasks);
  }
  if (rest.empty()) return;
  const std::vector<Verdict> judged = judge(rest);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    Fate& fate = *describe_fate(fates, rest[i].first);
    fate.by = judged[i].found + judged[i].complaint;
    if (judged[i].as_required) fate.kind = Fate::Kind::kByJudge;
  }
}

void Campaign::sweep(const Known& known, std::vector<Fate>& fates) const {
  std::set<int> indices;  // of cases
  for (const Fate& fate : fates) {
    if (is_open(fate)) indices.merge(cases_for(fate.mutant->id, known));
  }
  const auto key = [](const TrialRun& run) { return std::make_tuple(run.case_index, run.num_ranks, run.seed); };
  std::set<std::tuple<int, int, std::uint64_t>> done;
  for (const TrialRun& run : known.runs) done.insert(key(run));
  std::vector<TrialRun> runs = runs_on(kSweptSizes, {seed, seed + 1});
  runs.erase(std::remove_if(
                 runs.begin(), runs.end(),
                 [&](const TrialRun& run) { return indices.count(run.case_index) == 0 || done.count(key(run)) != 0; }),
             runs.end());
  const Known swept = with_reference(std::move(runs), false);
  TrialOrder order;
  order.jobs = jobs;
  order.runs = swept.runs;
  order.expected = swept.same;
  for (Fate& fate : fates) {
    if (!is_open(fate)) continue;
    fate.kind = Fate::Kind::kEqual;
    fate.reason = find_reason(equivalents, lab_folder, *fate.mutant);
    const std::vector<int> chosen = runs_for(fate.mutant->id, swept);
    if (!chosen.empty()) order.trials.push_back({fate.mutant->id, chosen, Trial::Until::kDiffers});
  }
  for (const TrialReport& report : perform(order)) {
    Fate& fate = *describe_fate(fates, report.id);
    if (!report.ended.empty()) fate.differs.insert("end");
    compare(swept, report, fate);
    if (!fate.differs.empty()) fate.kind = Fate::Kind::kSurvived;
  }
}

std::vector<Fate> Campaign::run(const std::vector<int>& ids, const std::map<int, std::string>& left_out) const {
  std::vector<Fate> fates;
  for (const int id : ids) {
    Fate fate;
    fate.mutant = mutants.find(id);
    if (left_out.count(id) != 0) fate.kind = Fate::Kind::kNotCompiled;
    fates.push_back(std::move(fate));
  }
  const std::vector<int> checked = sizes.all();
  const auto left = [&] {
    return std::count_if(fates.begin(), fates.end(),
                         [](const Fate& fate) { return fate.kind == Fate::Kind::kSurvived; });
  };
  Known known = with_reference(runs_on({checked.front()}, {seed}), true);
  say(fmt::format("{} runs of the reference; {} mutants on {}", known.runs.size(), left(),
                  counted(checked.front(), "rank")));
  try_on(known, fates);
  if (left() == 0) return fates;
  say(fmt::format("{} left for the other sizes", left()));
  const Known others = with_reference(runs_on({checked.begin() + 1, checked.end()}, {seed}), true);
  try_on(others, fates);
  const auto num_before = static_cast<int>(known.runs.size());
  known.runs.insert(known.runs.end(), others.runs.begin(), others.runs.end());
  known.reference.insert(known.reference.end(), others.reference.begin(), others.reference.end());
  for (const auto& [run, fingerprint] : others.same) known.same[num_before + run] = fingerprint;
  if (left() == 0) return fates;
  say(fmt::format("{} left for the sweep", std::count_if(fates.begin(), fates.end(), is_open)));
  sweep(known, fates);
  say(fmt::format("{} left for the judge", left()));
  judge_rest(known, fates);
  return fates;
}

}  // namespace lab::grading::generated
