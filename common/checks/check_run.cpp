#include "common/checks/check_run.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "common/base/errors.h"
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
    if (!is_asked(test_case, place.rank) || !skip_reason_of(test_case, place.size).empty()) continue;
    CaseTrace& one = traces.emplace_back();
    one.task = test_case.task;
    one.name = test_case.name;
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

void perform_and_record(const std::vector<Case>& cases, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                        int descriptor) {
  for (const Case& test_case : cases) {
    if (!is_asked(test_case, comm.rank())) continue;
    CaseRecord record;
    record.task = test_case.task;
    record.name = test_case.name;
    record.message = skip_reason_of(test_case, comm.size());
    if (record.message.empty()) {
      perform_and_keep(
          record, [&] { return perform_case(test_case, calls, comm, seed); }, comm,
          [&](const CaseRecord& kept) { write_record(descriptor, kept); });
    } else {
      record.state = CaseRecord::State::kSkipped;
      write_record(descriptor, record);
    }
  }
}

launch::WorldOutcome run_record_world(const std::vector<Case>& cases, const CallTable& calls,
                                      const launch::WorldSpec& spec, std::uint64_t seed,
                                      const std::vector<int>& descriptors) {
  return launch::run_ranks(spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                             perform_and_record(cases, calls, comm, seed,
                                                descriptors[static_cast<std::size_t>(comm.rank())]);
                           }));
}

const CaseRecord* RecordedWorld::find(int rank, const Case& test_case) const {
  const std::vector<CaseRecord>& records = by_rank[static_cast<std::size_t>(rank)];
  const auto found = std::find_if(records.begin(), records.end(), [&](const CaseRecord& record) {
    return record.task == test_case.task && record.name == test_case.name;
  });
  return found == records.end() ? nullptr : &*found;
}

bool RecordedWorld::came_through(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    if (!is_asked(test_case, rank)) continue;
    const CaseRecord* record = find(rank, test_case);
    if (record == nullptr || record->state == CaseRecord::State::kThrew) return false;
  }
  return true;
}

bool RecordedWorld::some_rank_left(const Case& test_case) const {
  for (int rank = 0; rank < static_cast<int>(by_rank.size()); ++rank) {
    const CaseRecord* record = find(rank, test_case);
    if (!is_asked(test_case, rank) || (record != nullptr && record->state != CaseRecord::State::kThrew)) return true;
  }
  return false;
}

CaseVerdict RecordedWorld::judged(const Case& test_case, std::uint64_t seed) const {
  std::vector<std::optional<CaseRecord>> records(by_rank.size());
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    if (const CaseRecord* record = find(static_cast<int>(rank), test_case)) records[rank] = *record;
  }
  return judge_case(test_case, static_cast<int>(by_rank.size()), seed, records);
}

std::string RecordedWorld::timeline_of(const Case& test_case, std::uint64_t seed) const {
  const auto size = static_cast<int>(by_rank.size());
  const bool is_whole = came_through(test_case);
  std::vector<comm::RankTrace> shown(by_rank.size());
  for (int rank = 0; rank < static_cast<int>(traces.size()); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (!is_whole && std::find(stuck_ranks.begin(), stuck_ranks.end(), rank) == stuck_ranks.end()) continue;
    for (const CaseTrace& trace : traces[at]) {
      if (trace.task == test_case.task && trace.name == test_case.name) shown[at] = trace;
    }
    const CaseRecord* const record = find(rank, test_case);
    if (record != nullptr && record->state == CaseRecord::State::kReturned)
      shown[at].length_ps = record->used.model_time.total;
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
  const RecordFiles files(spec.num_ranks);
  RecordedWorld world;
  launch::WorldSpec traced = spec;
  traced.traced = true;
  launch::WorldOutcome outcome = run_record_world(cases, calls, traced, seed, files.descriptors());
  for (int rank = 0; rank < spec.num_ranks; ++rank)
    world.traces.push_back(
        traces_by_case(cases, {rank, spec.num_ranks, seed}, outcome.ranks[static_cast<std::size_t>(rank)].trace));
  if (!outcome.rank_lines.empty()) {
    world.stuck_ranks.resize(static_cast<std::size_t>(spec.num_ranks));
    std::iota(world.stuck_ranks.begin(), world.stuck_ranks.end(), 0);
  }
  world.failure = std::move(outcome.failure);
  world.rank_lines = std::move(outcome.rank_lines);
  for (RecordsRead& read : files.read()) {
    world.intact = world.intact && read.broken.empty();
    world.by_rank.push_back(std::move(read.records));
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
  const bool innocent = after.front().world->came_through(cases[stopped]);
  Deciding all = innocent ? perform_apart(before, perform) : Deciding(stopped, {world, false});
  append(all, std::move(after));
  return all;
}

std::vector<CheckedCase> check_apart(const std::vector<Case>& cases, std::uint64_t seed, const PerformWorld& perform) {
  const std::vector<DecidingWorld> deciding = perform_apart(cases, perform);
  // Only now, after the last fork, may this process run backward(), or have threads.
  std::vector<CheckedCase> checked(cases.size());
  std::atomic<std::size_t> next = 0;
  const auto judge_some = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const auto& [world, to_blame] = deciding[i];
      static_cast<CaseVerdict&>(checked[i]) = world->judged(cases[i], seed);
      if (to_blame) {
        checked[i].failure = world->failure;
        if (world->failure && world->failure->crashed_rank >= 0) {
          const int num_ranks = static_cast<int>(world->by_rank.size());
          checked[i].failure->message +=
              "; hint: " + launch::debugger_command(cases[i].task.substr(0, cases[i].task.find('.')), cases[i].name,
                                                    num_ranks, world->failure->crashed_rank);
        }
        checked[i].rank_lines = world->rank_lines;
      }
      if (!checked[i].right() && !checked[i].skipped() && !checked[i].not_implemented())
        checked[i].timeline = world->timeline_of(cases[i], seed);
    }
  };
  std::vector<std::future<void>> others;  // expected results take as long as the ranks took
  for (int core = 1; core < std::min(launch::usable_cores(), static_cast<int>(cases.size())); ++core) {
    others.push_back(std::async(std::launch::async, [&] {
      use_threads(1);
      judge_some();
    }));
  }
  judge_some();
  for (std::future<void>& other : others) other.get();
  return checked;
}

bool TaskCheck::passed() const {
  return !skipped() && std::all_of(cases.begin(), cases.end(),
                                   [](const CheckedCase& checked) { return checked.right() || checked.skipped(); });
}

bool TaskCheck::skipped() const {
  return std::all_of(cases.begin(), cases.end(), [](const CheckedCase& checked) { return checked.skipped(); });
}

std::string TaskCheck::missing_task() const {
  for (const CheckedCase& checked : cases) {
    for (const RankVerdict& rank : checked.ranks) {
      if (rank.state == RankVerdict::State::kNotImplemented) return rank.missing_task;
    }
  }
  return "";
}

int TaskCheck::exit_code() const {
  if (!missing_task().empty()) return static_cast<int>(ExitCode::kNotImplemented);
  for (const CheckedCase& checked : cases) {
    if (checked.failure) return checked.failure->exit_code;
  }
  return static_cast<int>(passed() || skipped() ? ExitCode::kAllMatch : ExitCode::kMismatch);
}

std::vector<TaskCheck> run_checks(const std::vector<Case>& cases, const CallTable& calls,
                                  const launch::WorldSpec& world, std::uint64_t seed) {
  std::vector<TaskCheck> checks;
  for (const std::string& task : tasks_of(cases)) checks.push_back({task, {}});
  for (CheckedCase& checked : check_apart(
           cases, seed, [&](const std::vector<Case>& some) { return record_cases(some, calls, world, seed); })) {
    const auto check =
        std::find_if(checks.begin(), checks.end(), [&](const TaskCheck& one) { return one.task == checked.task; });
    check->cases.push_back(std::move(checked));
  }
  return checks;
}

}  // namespace lab
