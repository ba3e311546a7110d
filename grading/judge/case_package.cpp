#include "grading/judge/case_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "common/api/errors.h"

namespace lab::grading {
namespace {

std::vector<std::uint64_t> random_seeds(std::size_t count) {
  std::random_device source;
  std::vector<std::uint64_t> seeds(count);
  for (std::uint64_t& seed : seeds) seed = std::uint64_t{source()} << 32 | source();
  return seeds;
}

}  // namespace

CasePackage::CasePackage(std::vector<Case> cases, int num_ranks, std::uint64_t seed)
    : cases_(std::move(cases)),
      seed_(seed),
      task_seeds_(random_seeds(cases_.size())),
      ranks_(static_cast<std::size_t>(num_ranks)) {}

CaseInputs CasePackage::make_inputs(std::size_t index, int rank, int call) const {
  CaseInputs inputs = judged_inputs(cases_[index], {rank, static_cast<int>(ranks_.size()), seed_}, call);
  inputs.seed = seed_of_call(task_seeds_[index], call);
  return inputs;
}

std::optional<std::string> CasePackage::next(int rank, pid_t process) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  num_started_ += state.has_started ? 0 : 1;
  state.has_started = true;
  if (state.current != nullptr) throw UsageError(fmt::format("no result of {}", state.current->name));
  if (const auto owner = processes_.emplace(process, rank).first->second; owner != rank)
    throw UsageError(fmt::format("process {} asks for work as rank {} and as rank {}", process, owner, rank));
  while (state.next_case < cases_.size()) {
    const std::size_t index = state.next_case;
    const int call = state.next_call++;
    if (!is_asked(cases_[index], rank) || call > num_calls(cases_[index])) {
      ++state.next_case;
      state.next_call = 1;
      continue;
    }
    state.current = &cases_[index];
    state.current_call = call;
    state.usage.case_begins(process);
    try {
      return to_bytes(make_inputs(index, rank, call));
    } catch (...) {
      not_drawn_ = std::current_exception();
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void CasePackage::done(int rank, pid_t process, std::string result, const comm::RelayCost& spent) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  if (state.current == nullptr) throw UsageError("a result that was not asked for");
  CaseRecord record = record_from_bytes(result);
  if (record.task != state.current->task || record.name != state.current->name)
    throw UsageError(fmt::format("a result of {} in place of {}", record.name, state.current->name));
  if (record.call != state.current_call)
    throw UsageError(
        fmt::format("a result of {}'s call {} in place of call {}", record.name, record.call, state.current_call));
  // What the record says is only what the rank claims. How often it agrees costs nothing, and the relay does not see it.
  std::vector<LedgerEntry> claimed = std::exchange(record.spent, spent.ledger);
  std::copy_if(claimed.begin(), claimed.end(), std::back_inserter(record.spent),
               [](const LedgerEntry& entry) { return entry.operation == "agree"; });
  record.used.model_time = spent.model_time;
  for (LedgerEntry& entry : record.spent) {
    if (entry.operation == "message") entry.operation = record.task;
  }
  state.traces.push_back({spent.trace, record.task, record.name, record.call});
  // A rank that failed ends at once, and earns nothing that would have to be explained.
  if (record.end == CaseEnd::kReturned) record.seen = state.usage.case_ended(process);
  state.current = nullptr;
  state.records.push_back(std::move(record));
  ++num_done_;
}

std::vector<std::vector<CaseRecord>> CasePackage::take_records() {
  if (not_drawn_) std::rethrow_exception(not_drawn_);
  std::vector<std::vector<CaseRecord>> by_rank;
  for (RankState& state : ranks_) by_rank.push_back(std::move(state.records));
  return by_rank;
}

std::vector<std::vector<CaseTrace>> CasePackage::take_traces(
    const std::function<comm::RankTrace(int rank)>& unfinished) {
  std::vector<std::vector<CaseTrace>> by_rank;
  for (RankState& state : ranks_) {
    if (state.current != nullptr)
      state.traces.push_back(
          {unfinished(static_cast<int>(by_rank.size())), state.current->task, state.current->name, state.current_call});
    by_rank.push_back(std::move(state.traces));
  }
  return by_rank;
}

}  // namespace lab::grading
