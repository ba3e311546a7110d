#include "common/checks/check_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/api/errors.h"
#include "common/base/failure.h"
#include "common/checks/case.h"
#include "common/comm/trace/trace_timeline.h"
#include "common/launch/debug_rank.h"
#include "common/launch/supervise/cores.h"
#include "common/plot/timeline_json.h"
#include "common/rank/perform_and_keep.h"
#include "common/tensor/compute_threads.h"

namespace lab {
namespace {

constexpr std::uint32_t kFirstPeriod = 2;  // the world's own is 1

}  // namespace

std::vector<CaseTrace> traces_by_case(const std::vector<Case>& cases, const CasePlace& place,
                                      const std::vector<comm::TraceEvent>& trace) {
  std::vector<CaseTrace> traces;
  for (const Case& test_case : cases) {
    if (!is_asked(test_case, place.rank)) continue;
    for (int call = 1; call <= num_calls(test_case); ++call) {
      CaseTrace& one = traces.emplace_back();
      one.task = test_case.task;
      one.name = test_case.name;
      one.call = call;
    }
  }
  for (const comm::TraceEvent& event : trace) {
    const std::size_t at = event.model_period - kFirstPeriod;
    if (event.model_period >= kFirstPeriod && at < traces.size()) traces[at].events.push_back(event);
  }
  return traces;
}

bool must_communicate(const Case& test_case, int size, std::uint64_t seed) {
  if (!test_case.bounds || test_case.only_rank_zero) return false;
  for (int rank = 0; rank < size; ++rank) {
    for (const CostBound& bound : test_case.bounds({rank, size, seed})) {
      if (std::max({bound.min_messages, bound.min_rounds, bound.min_bytes_received, bound.min_destinations}) > 0)
        return true;
    }
  }
  return false;
}

const CaseRecord* RecordedWorld::find(int rank, const Case& test_case, int call) const {
  const std::vector<CaseRecord>& records = by_rank[static_cast<std::size_t>(rank)];
  const auto found = std::find_if(records.begin(), records.end(), [&](const CaseRecord& record) {
    return record.task == test_case.task && record.name == test_case.name && record.call == call;
  });
  return found == records.end() ? nullptr : &*found;
}

bool RecordedWorld::came_through(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    if (!is_asked(test_case, rank)) continue;
    const CaseRecord* record = find(rank, test_case, num_calls(test_case));
    if (record == nullptr || record->end == CaseEnd::kThrew) return false;
  }
  return true;
}

bool RecordedWorld::retains(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    const CaseRecord* record = find(rank, test_case, num_calls(test_case));
    if (record != nullptr && record->used.memory.retained_bytes > 0) return true;
  }
  return false;
}

bool RecordedWorld::some_rank_left(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    const CaseRecord* record = find(rank, test_case, num_calls(test_case));
    if (!is_asked(test_case, rank) || (record != nullptr && record->end != CaseEnd::kThrew)) return true;
  }
  return false;
}

CaseVerdict RecordedWorld::judged(const Case& test_case, std::uint64_t seed) const {
  std::vector<RecordsOfCall> calls;
  for (int call = 1; call <= num_calls(test_case); ++call) {
    RecordsOfCall& records = calls.emplace_back(by_rank.size());
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      if (const CaseRecord* record = find(static_cast<int>(rank), test_case, call)) records[rank] = *record;
    }
  }
  return judge_calls(test_case, static_cast<int>(by_rank.size()), seed, calls);
}

std::string RecordedWorld::plan_timeline(const Case& test_case, std::uint64_t seed, int call) const {
  const auto size = static_cast<int>(by_rank.size());
  const bool is_whole = came_through(test_case);
  std::vector<comm::RankTrace> shown(by_rank.size());
  for (int rank = 0; rank < static_cast<int>(traces.size()); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (!is_whole && std::find(stuck_ranks.begin(), stuck_ranks.end(), rank) == stuck_ranks.end()) continue;
    for (const CaseTrace& trace : traces[at]) {
      if (trace.task == test_case.task && trace.name == test_case.name && trace.call == call) shown[at] = trace;
    }
    const CaseRecord* const record = find(rank, test_case, call);
    if (record != nullptr && record->end == CaseEnd::kReturned) shown[at].length_ps = record->used.model_time.total;
  }
  const bool any_message = std::any_of(shown.begin(), shown.end(), [](const comm::RankTrace& trace) {
    return std::any_of(trace.events.begin(), trace.events.end(),
                       [](const comm::TraceEvent& event) { return event.kind != comm::TraceKind::kComputation; });
  });
  if (!any_message && !(is_whole && must_communicate(test_case, size, seed))) return "";
  return plot::to_json(comm::trace_timeline(shown, is_whole))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RecordedWorld record_cases(const std::vector<Case>& cases, const CallTable& calls, const launch::WorldSpec& spec,
                           std::uint64_t seed) {
  RecordedWorld world;
  launch::WorldSpec traced = spec;
  traced.traced = true;
  launch::WorldOutcome outcome = launch::run_ranks(
      traced, launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
        for (const Case& test_case : cases) {
          if (!is_asked(test_case, comm.rank())) continue;
          CallSeries series;
          for (int call = 1; call <= num_calls(test_case); ++call) {
            perform_and_keep(judged_inputs(test_case, {comm.rank(), comm.size(), seed}, call), calls, comm, series,
                             [&](const CaseRecord& record) { own.keep(bytes_of_record(record)); });
          }
        }
      }));
  for (int rank = 0; rank < spec.num_ranks; ++rank)
    world.traces.push_back(
        traces_by_case(cases, {rank, spec.num_ranks, seed}, outcome.ranks[static_cast<std::size_t>(rank)].trace));
  if (!outcome.rank_lines.empty()) {
    world.stuck_ranks.resize(static_cast<std::size_t>(spec.num_ranks));
    std::iota(world.stuck_ranks.begin(), world.stuck_ranks.end(), 0);
  }
  world.failure = outcome.failure;
  world.rank_lines = std::move(outcome.rank_lines);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    std::string broken = rank.broken;
    std::vector<CaseRecord>& records = world.by_rank.emplace_back();
    try {
      for (const std::string& bytes : rank.kept) records.push_back(record_from_bytes(bytes));
    } catch (const std::exception& failure) {
      broken = fmt::format("record {}: {}", records.size() + 1, get_message(failure));
    }
    if (broken.empty()) continue;
    world.intact = false;
    if (!world.failure)
      world.failure = launch::RankFailure{static_cast<int>(ExitCode::kContract),
                                          fmt::format("rank {}: {}", world.by_rank.size() - 1, broken)};
  }
  return world;
}

std::vector<DecidingWorld> perform_apart(const std::vector<Case>& cases, const PerformWorld& perform) {
  using Deciding = std::vector<DecidingWorld>;
  if (cases.empty()) return {};
  const auto part = [&](std::size_t begin, std::size_t end) {
    return std::vector<Case>(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                             cases.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const auto append = [](Deciding& all, Deciding more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  const auto world = std::make_shared<const RecordedWorld>(perform(cases));
  const auto stopped = static_cast<std::size_t>(
      std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return !world->came_through(one); }) -
      cases.begin());
  if (stopped == cases.size() && !world->failure && world->intact) return Deciding(cases.size(), {world, false});
  if (cases.size() == 1) return {{world, true}};
  if (stopped == cases.size() || !world->intact) {
    Deciding all = perform_apart(part(0, cases.size() / 2), perform);
    append(all, perform_apart(part(cases.size() / 2, cases.size()), perform));
    return all;
  }
  if (stopped == 0) {
    // A rank that is ahead of the others may have failed in a later case and taken them with it.
    Deciding all = world->some_rank_left(cases[0]) ? perform_apart(part(0, 1), perform) : Deciding{{world, true}};
    append(all, perform_apart(part(1, cases.size()), perform));
    return all;
  }
  const std::vector<Case> before = part(0, stopped);
  Deciding after = perform_apart(part(stopped, cases.size()), perform);
  const bool passes_without_earlier = after.front().world->came_through(cases[stopped]);
  Deciding all = passes_without_earlier ? perform_apart(before, perform) : Deciding(stopped, {world, false});
  append(all, std::move(after));
  return all;
}

namespace {

/// Puts the end of its world down to the case.
void blame(const RecordedWorld& world, CaseVerdict& verdict) {
  verdict.rank_lines = world.rank_lines;
  if (!world.failure) return;
  verdict.failure = world.failure->message;
  verdict.failure_code = world.failure->exit_code;
  if (verdict.passed()) verdict.worth = Worth::kFailed;
  if (world.failure->crashed_rank < 0) return;
  verdict.failure +=
      "; hint: " + launch::debugger_command(verdict.task.substr(0, verdict.task.find('.')), verdict.name,
                                            static_cast<int>(world.by_rank.size()), world.failure->crashed_rank);
}

CaseVerdict make_verdict(const DecidingWorld& deciding, const Case& test_case, std::uint64_t seed) {
  CaseVerdict verdict = deciding.world->judged(test_case, seed);
  if (deciding.to_blame) blame(*deciding.world, verdict);
  if (!verdict.is_fine() && verdict.missing_task().empty())
    verdict.timeline = deciding.world->plan_timeline(test_case, seed, verdict.call);
  return verdict;
}

}  // namespace

std::vector<CaseVerdict> check_apart(const std::vector<Case>& cases, int size, std::uint64_t seed,
                                     const PerformWorld& perform) {
  std::vector<Case> to_run;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(to_run),
               [&](const Case& one) { return find_skip_reason(one, size).empty(); });
  std::vector<DecidingWorld> deciding = perform_apart(to_run, perform);
  for (std::size_t i = 0; i < to_run.size(); ++i) {
    if (deciding[i].to_blame || num_calls(to_run[i]) < 2 || !deciding[i].world->retains(to_run[i])) continue;
    to_run[i].retains = true;
    deciding[i] = perform_apart({to_run[i]}, perform).front();
  }
  // Only now, after the last fork, may this process run backward(), or have threads.
  std::vector<CaseVerdict> judged(to_run.size());
  std::atomic<std::size_t> next = 0;
  const auto judge_some = [&] {
    for (std::size_t i = next++; i < to_run.size(); i = next++) judged[i] = make_verdict(deciding[i], to_run[i], seed);
  };
  std::vector<std::future<void>> others;  // expected results take as long as the ranks took
  for (int core = 1; core < std::min(launch::usable_cores(), static_cast<int>(to_run.size())); ++core) {
    others.push_back(std::async(std::launch::async, [&] {
      use_threads(1);
      judge_some();
    }));
  }
  judge_some();
  for (std::future<void>& other : others) other.get();

  std::vector<CaseVerdict> verdicts;
  auto one = judged.begin();
  for (const Case& test_case : cases) {
    const bool ran = find_skip_reason(test_case, size).empty();
    verdicts.push_back(ran ? std::move(*one++) : judge_case(test_case, size, seed, {}));
  }
  return verdicts;
}

std::vector<TaskOutcome> make_outcomes(std::vector<CaseVerdict> verdicts) {
  std::vector<TaskOutcome> outcomes;
  for (CaseVerdict& verdict : verdicts) {
    auto outcome = std::find_if(outcomes.begin(), outcomes.end(),
                                [&](const TaskOutcome& other) { return other.id == verdict.task; });
    if (outcome == outcomes.end()) outcome = outcomes.insert(outcome, {verdict.task, Worth::kAsChecked});
    if (outcome->missing_task.empty()) outcome->missing_task = verdict.missing_task();
    outcome->checks.push_back(std::move(verdict));
  }
  return outcomes;
}

std::vector<CaseVerdict> run_checks(const std::vector<Case>& cases, const CallTable& calls,
                                    const launch::WorldSpec& world, std::uint64_t seed) {
  return check_apart(cases, world.num_ranks, seed,
                     [&](const std::vector<Case>& some) { return record_cases(some, calls, world, seed); });
}

}  // namespace lab
