#include "common/checks/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <initializer_list>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/checks/symptoms/symptom.h"

namespace lab {
namespace {

double milliseconds(std::int64_t picoseconds) {
  return static_cast<double>(picoseconds) * 1e-9;
}

std::size_t longest(const std::vector<ModelTime>& by_rank, std::int64_t ModelTime::*part) {
  const auto found = std::max_element(by_rank.begin(), by_rank.end(),
                                      [part](const ModelTime& a, const ModelTime& b) { return a.*part < b.*part; });
  return static_cast<std::size_t>(found - by_rank.begin());
}

std::string too_long(const TimeBound& bound, const std::vector<ModelTime>& by_rank, std::int64_t total) {
  std::int64_t work = 0;
  for (const ModelTime& time : by_rank) work += time.work;
  const auto num_ranks = static_cast<double>(by_rank.size());
  const double at_work = static_cast<double>(work) / static_cast<double>(total);
  // Not exactly one: the ranks also begin and end together.
  constexpr double kOneAtATime = 1.25;
  return fmt::format(
      "takes {:.3g} ms of model time, expected at most {:.3g} (it can be done in {:.3g}): {}{:.1f} of {} {}s idle",
      milliseconds(total), milliseconds(bound.max_ps), milliseconds(bound.needed_ps),
      at_work < kOneAtATime ? fmt::format("one {} at work at a time: ", bound.unit) : "", num_ranks - at_work,
      by_rank.size(), bound.unit);
}

}  // namespace

std::optional<TimeExcess> beyond_time(const TimeBound& bound, const std::vector<ModelTime>& by_rank) {
  const std::size_t slowest = longest(by_rank, &ModelTime::total), waiter = longest(by_rank, &ModelTime::waiting);
  const std::int64_t total = by_rank[slowest].total, waiting = by_rank[waiter].waiting;
  if (total > bound.max_ps) return TimeExcess{slowest, too_long(bound, by_rank, total)};
  if (waiting <= bound.max_waiting_ps) return std::nullopt;
  return TimeExcess{waiter,
                    fmt::format("waits {:.3g} ms of model time for messages, expected at most {:.3g}: post them "
                                "earlier, so that they travel while the rank works",
                                milliseconds(waiting), milliseconds(bound.max_waiting_ps))};
}

namespace {

bool any(const std::vector<RankVerdict>& ranks, Worth worth) {
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankVerdict& rank) { return rank.worth == worth; });
}

bool only(const std::vector<RankVerdict>& ranks, std::initializer_list<Worth> worths) {
  return std::all_of(ranks.begin(), ranks.end(), [&](const RankVerdict& rank) {
    return std::find(worths.begin(), worths.end(), rank.worth) != worths.end();
  });
}

/// What one rank's part of a case is worth.
RankVerdict judge_rank(const Case& test_case, const CasePlace& place, const std::optional<CaseRecord>& record,
                       CaseResult& result) {
  if (!record || record->task != test_case.task || record->name != test_case.name)
    return {CaseEnd::kNothing, Worth::kFailed, "nothing came back"};
  if (record->end == CaseEnd::kNotImplemented)
    return {record->end, Worth::kNotImplemented, record->message, record->missing_task, record->exit_code};
  if (record->end != CaseEnd::kReturned) return {record->end, Worth::kFailed, record->message, "", record->exit_code};
  result.expected = test_case.expected(place);
  result.record = *record;
  compare_case(test_case, place, result);
  const Worth worth = !result.wrong.empty()         ? Worth::kFailed
                      : !result.over_budget.empty() ? Worth::kTooExpensive
                                                    : Worth::kPassed;
  return {record->end,  worth,       !result.wrong.empty() ? result.wrong : result.over_budget, "", 0,
          record->used, record->seen};
}

/// Ranks that are all right may have taken too long together, or one may have waited too long: then the slowest one, or
/// that one, is too expensive.
void judge_time(const Case& test_case, std::uint64_t seed, std::vector<RankVerdict>& ranks) {
  if (!test_case.time || !only(ranks, {Worth::kPassed})) return;
  std::vector<ModelTime> times;
  for (const RankVerdict& rank : ranks) times.push_back(rank.used.model_time);
  const auto excess = beyond_time(test_case.time(static_cast<int>(ranks.size()), seed), times);
  if (!excess) return;
  ranks[excess->rank].worth = Worth::kTooExpensive;
  ranks[excess->rank].reason = excess->reason;
}

/// Results that must be the same everywhere: a rank that is right, but has other bits than rank 0, is wrong.
void judge_sameness(const Case& test_case, const std::vector<CaseResult>& results, std::vector<RankVerdict>& ranks) {
  if (!only(ranks, {Worth::kPassed})) return;
  for (const std::string& name : test_case.same_on_all_ranks) {
    const at::Tensor& first = results.front().record.results.at(name);
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
      const at::Tensor& here = results[rank].record.results.at(name);
      if (at::equal(here, first)) continue;
      Tolerance exact;
      exact.rtol = exact.atol = 0;
      const std::optional<FirstDifference> found = first_difference(here, first, exact);
      ranks[rank] = {CaseEnd::kReturned, Worth::kFailed,
                     fmt::format("result '{}'{}: expected the same bits on all ranks", name,
                                 found ? fmt::format(", element {}: {}, but {} on rank 0", shape_text(found->index),
                                                     found->actual, found->expected)
                                       : " differs from that of rank 0")};
      return;
    }
  }
}

/// The most bytes that a rank may send, by its bounds: what no bound names it may not send.
std::int64_t most_bytes_sent(const std::vector<CostBound>& bounds) {
  std::uint64_t most = 0;
  for (const CostBound& bound : bounds) {
    if (bound.max_calls == 0 || bound.max_messages == 0) continue;
    if (bound.max_bytes_sent == CostBound::kAny) return CaseFigures::kAny;
    if (bound.operation.empty()) return static_cast<std::int64_t>(bound.max_bytes_sent);
    most += bound.max_bytes_sent;
  }
  return static_cast<std::int64_t>(most);
}

CaseFigures list_limits(const Case& test_case, int size, std::uint64_t seed) {
  CaseFigures limits;
  if (test_case.time) limits.model_time_ps = test_case.time(size, seed).max_ps;
  if (test_case.bounds) limits.bytes_sent = 0;
  if (test_case.memory) limits.peak_bytes = 0;
  if (test_case.work) limits.flops = 0;
  for (int rank = 0; rank < size; ++rank) {
    if (!is_asked(test_case, rank)) continue;
    const CasePlace place{rank, size, seed};
    if (test_case.bounds) limits.bytes_sent = std::max(limits.bytes_sent, most_bytes_sent(test_case.bounds(place)));
    if (test_case.memory) limits.peak_bytes = std::max(limits.peak_bytes, test_case.memory(place).most);
    if (test_case.work) limits.flops = std::max(limits.flops, test_case.work(place).most);
  }
  return limits;
}

/// Adds what one rank used.
void add_use(CaseFigures& used, const CaseRecord& record) {
  std::int64_t bytes_sent = 0;
  for (const LedgerEntry& entry : record.spent) bytes_sent += static_cast<std::int64_t>(entry.bytes_sent);
  used.model_time_ps = std::max(used.model_time_ps, record.used.model_time.total);
  used.bytes_sent = std::max(used.bytes_sent, bytes_sent);
  used.peak_bytes = std::max(used.peak_bytes, record.used.memory.peak_bytes);
  used.flops = std::max(used.flops, record.used.flops);
}

/// With inputs, which only symptoms need.
CaseEvidence collect_evidence(const Case& test_case, int size, std::uint64_t seed, std::vector<CaseResult>& results,
                              const std::vector<RankVerdict>& verdicts) {
  CaseEvidence evidence{test_case, size, seed, {}, {}, {}, {}, {}, {}, {}};
  for (int rank = 0; rank < size; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const RankVerdict& verdict = verdicts[index];
    const bool threw = verdict.end == CaseEnd::kThrew, costly = verdict.worth == Worth::kTooExpensive;
    evidence.inputs.push_back(is_asked(test_case, rank) ? test_case.inputs({rank, size, seed}) : CaseInputs());
    evidence.expected.push_back(std::move(results[index].expected));
    evidence.actual.push_back(std::move(results[index].record.results));
    evidence.right.push_back(costly || verdict.worth == Worth::kPassed);
    evidence.over_budget.push_back(costly ? verdict.reason : "");
    evidence.thrown.push_back(threw ? verdict.reason : "");
    evidence.thrown_codes.push_back(threw ? verdict.exit_code : 0);
  }
  return evidence;
}

Symptom choose_symptom(const CaseEvidence& evidence) {
  try {
    return find_symptom(evidence).value_or(Symptom());
  } catch (const std::exception&) {
    // Only a hint is lost. The results come from untrusted code: whatever their shape, they must not end the judge.
    return {};
  }
}

/// How well a rank's reason explains why the case failed: a TODO best, another rank's failure least.
int weigh(const RankVerdict& rank) {
  constexpr int kPeerFailed = static_cast<int>(ExitCode::kCommunication);
  switch (rank.worth) {
    case Worth::kNotImplemented: return 6;
    case Worth::kTooExpensive: return 3;
    case Worth::kFailed: break;
    default: return 0;
  }
  if (rank.end == CaseEnd::kThrew) return rank.exit_code == kPeerFailed ? 2 : 5;
  return rank.end == CaseEnd::kReturned ? 4 : 1;
}

std::string find_reason(const std::vector<RankVerdict>& ranks) {
  const auto worst = std::max_element(ranks.begin(), ranks.end(),
                                      [](const RankVerdict& a, const RankVerdict& b) { return weigh(a) < weigh(b); });
  if (worst == ranks.end() || weigh(*worst) == 0) return "";
  // "rank 2, result 'out', ...", but "rank 2: 3 calls of all_gather, ..."
  const bool is_result = worst->end == CaseEnd::kReturned && worst->worth == Worth::kFailed;
  return fmt::format("rank {}{} {}", worst - ranks.begin(), is_result ? "," : ":", worst->reason);
}

Worth find_worth(const std::vector<RankVerdict>& ranks) {
  if (only(ranks, {Worth::kSkipped})) return Worth::kSkipped;
  if (any(ranks, Worth::kNotImplemented)) return Worth::kNotImplemented;
  if (only(ranks, {Worth::kPassed, Worth::kSkipped})) return Worth::kPassed;
  return only(ranks, {Worth::kPassed, Worth::kSkipped, Worth::kTooExpensive}) ? Worth::kTooExpensive : Worth::kFailed;
}

}  // namespace

CaseVerdict judge_case(const Case& test_case, int size, std::uint64_t seed,
                       const std::vector<std::optional<CaseRecord>>& by_rank) {
  CaseVerdict verdict;
  verdict.task = test_case.task;
  verdict.name = test_case.name;
  const std::string skip_reason = find_skip_reason(test_case, size);
  if (skip_reason.empty()) {
    verdict.of_one_process = use_of_one_process(test_case, {0, size, seed});
    verdict.limits = list_limits(test_case, size, seed);
  }
  std::vector<CaseResult> results(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (!is_asked(test_case, rank) || !skip_reason.empty()) {
      verdict.ranks.push_back(
          {CaseEnd::kNotAsked, Worth::kSkipped, is_asked(test_case, rank) ? skip_reason : std::string()});
      continue;
    }
    verdict.ranks.push_back(judge_rank(test_case, {rank, size, seed},
                                       index < by_rank.size() ? by_rank[index] : std::nullopt, results[index]));
    if (verdict.ranks.back().end == CaseEnd::kReturned) add_use(verdict.used, results[index].record);
  }
  judge_time(test_case, seed, verdict.ranks);
  judge_sameness(test_case, results, verdict.ranks);
  verdict.worth = find_worth(verdict.ranks);
  verdict.reason = find_reason(verdict.ranks);
  if (!verdict.is_fine() && verdict.worth != Worth::kNotImplemented)
    verdict.symptom = choose_symptom(collect_evidence(test_case, size, seed, results, verdict.ranks));
  return verdict;
}

namespace {

/// By how much a call sends, receives or asks for more than the first one; empty: it does not.
std::string beyond_first(const CaseRecord& first, const CaseRecord& later) {
  for (const LedgerEntry& now : later.spent) {
    LedgerEntry then;
    for (const LedgerEntry& entry : first.spent) {
      if (entry.operation == now.operation) then += entry;
    }
    const struct {
      const char* what;
      std::uint64_t now, then;
    } counts[] = {{"calls", now.calls, then.calls},
                  {"messages sent", now.messages, then.messages},
                  {"bytes sent", now.bytes_sent, then.bytes_sent},
                  {"bytes received", now.bytes_received, then.bytes_received}};
    for (const auto& count : counts) {
      if (count.now > count.then)
        return fmt::format("{} {} of {}, but {} in the first call", count.now, count.what, now.operation, count.then);
    }
  }
  return "";
}

/// Right numbers that cost more than those of the first call, or of which something stays behind: on the first such rank.
void judge_growth(const RecordsOfCall& first, const RecordsOfCall& later, bool is_last, CaseVerdict& verdict) {
  for (std::size_t rank = 0; rank < verdict.ranks.size(); ++rank) {
    if (verdict.ranks[rank].end != CaseEnd::kReturned) continue;
    std::string reason = beyond_first(*first[rank], *later[rank]);
    if (const std::int64_t added = later[rank]->used.memory.retained_bytes; reason.empty() && is_last && added > 0)
      reason = fmt::format(
          "leaves {} bytes of tensors behind, in addition to those of earlier calls, expected none but its results",
          added);
    if (reason.empty()) continue;
    verdict.worth = verdict.ranks[rank].worth = Worth::kTooExpensive;
    verdict.ranks[rank].reason = reason;
    verdict.reason = find_reason(verdict.ranks);
    return;
  }
}

}  // namespace

CaseVerdict judge_calls(const Case& test_case, int size, std::uint64_t seed, const std::vector<RecordsOfCall>& calls) {
  CaseVerdict verdict = judge_case(test_case, size, seed, calls.front());
  for (std::size_t i = 1; i < calls.size() && verdict.passed(); ++i) {
    CaseVerdict later = judge_case(test_case, size, seed_of_call(seed, static_cast<int>(i) + 1), calls[i]);
    if (later.passed()) judge_growth(calls.front(), calls[i], i + 1 == calls.size(), later);
    if (later.passed()) continue;
    later.call = static_cast<int>(i) + 1;
    later.used = verdict.used;
    later.reason = fmt::format("in call {}, {}", later.call, later.reason);
    later.symptom = kRightOnce;
    return later;
  }
  return verdict;
}

}  // namespace lab
