#include "common/comm/messages/match_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace lab::comm {

void Match::copy_payload() const {
  if (num_bytes() == 0 || source->message.tensor.is_meta()) return;
  std::memcpy(target->message.tensor.data_ptr(), source->message.tensor.data_ptr(), num_bytes());
}

void Match::complete(double now_seconds) const {
  source->arrived_seconds = target->arrived_seconds = now_seconds;
  target->peer_step = source->message.step;
  target->peer_model_posted = source->message.model_posted;
  source->peer_model_posted = target->message.model_posted;
  source->stage = target->stage = LocalPending::Stage::kDone;
}

std::optional<Match> MatchTable::post(const std::shared_ptr<LocalPending>& mine) {
  const Message& message = mine->message;
  const bool sends = message.direction == Direction::kSend;
  mine->order = num_posted_++;
  auto& of_peer = at(message.peer).unmatched;
  const auto theirs = of_peer.find(message.of_peer(mine->owner));
  if (theirs == of_peer.end()) {
    at(mine->owner).unmatched[message].push_back(mine);
    return std::nullopt;
  }
  const std::shared_ptr<LocalPending> first = std::move(theirs->second.front());
  theirs->second.pop_front();
  if (theirs->second.empty()) of_peer.erase(theirs);

  const Match match{sends ? mine : first, sends ? first : mine};
  const std::string violation =
      contract_violation(match.source->owner, match.source->message, match.target->owner, match.target->message);
  for (LocalPending* end : {match.source.get(), match.target.get()}) {
    end->violation = violation;
    end->stage = violation.empty() ? LocalPending::Stage::kMatched : LocalPending::Stage::kDone;
  }
  return match;
}

void MatchTable::wait_begins(int rank, const LocalPending& pending) {
  at(rank).activity = RankActivity::kWaiting;
  at(rank).waiting_for = &pending;
  find_deadlock(rank);
}

void MatchTable::wait_ends(int rank) {
  at(rank).activity = RankActivity::kRunning;
  at(rank).waiting_for = nullptr;
}

void MatchTable::conclude(const LocalPending& pending, double timeout_seconds) const {
  if (!pending.violation.empty()) throw ContractError(pending.violation);
  if (pending.stage == LocalPending::Stage::kDone) return;
  throw_if_failed();
  throw CommError(fmt::format("timed out after {:g} s: rank {} {}{}", timeout_seconds, pending.owner,
                              describe_wait(pending.message.posted_op(0)),
                              describe_late_rank(pending.message.peer, pending.owner)));
}

void MatchTable::throw_unfinished(int rank, double timeout_seconds) const {
  std::vector<int> unfinished;
  for (int other = 0; other < size(); ++other) {
    if (at(other).activity != RankActivity::kFinished) unfinished.push_back(other);
  }
  throw CommError(fmt::format("timed out after {:g} s: rank {} has returned and waits for {} {} to return{}",
                              timeout_seconds, rank, unfinished.size() == 1 ? "rank" : "ranks",
                              fmt::join(unfinished, ", "), describe_late_rank(unfinished.at(0), rank)));
}

std::string MatchTable::describe_late_rank(int first, int self) const {
  const std::vector<RankState> all = states();
  const std::optional<int> late = find_late_rank(all, first);
  if (!late || *late == self) return "";
  return fmt::format("; late: rank {} {}", *late, describe_rank(all[static_cast<std::size_t>(*late)]));
}

void MatchTable::finish(int rank) {
  RankPlace& place = at(rank);
  if (place.activity == RankActivity::kFinished || place.activity == RankActivity::kFailed) return;
  place.activity = RankActivity::kFinished;
  ++num_finished_;
  for (int other = 0; other < size(); ++other) {
    if (at(other).activity == RankActivity::kWaiting) find_deadlock(other);
  }
}

void MatchTable::fail(int rank, ExitCode exit_code, const std::string& message) {
  at(rank).activity = RankActivity::kFailed;
  if (!failure_) failure_ = Failure{rank, exit_code, message};
}

void MatchTable::blame(int rank, ExitCode exit_code, const std::string& message) {
  failure_.reset();
  fail(rank, exit_code, message);
}

void MatchTable::diagnose_again() {
  if (const auto diagnosis = diagnose(states()))
    failure_ = Failure{-1, diagnosis->exit_code, diagnosis->message, diagnosis->ranks};
}

void MatchTable::throw_if_failed() const {
  if (!failure_) return;
  if (failure_->rank < 0) raise(failure_->exit_code, failure_->message);
  throw CommError(fmt::format("rank {} failed: {}", failure_->rank, failure_->message));
}

/// Follows the waits from `rank`: every waiting rank waits for exactly one other.
void MatchTable::find_deadlock(int rank) {
  int next = rank;
  for (int hops = 0; hops <= size(); ++hops) {
    const RankPlace& place = at(next);
    if (place.activity == RankActivity::kFinished) break;
    const bool blocked =
        place.activity == RankActivity::kWaiting && place.waiting_for->stage == LocalPending::Stage::kPosted;
    if (!blocked) return;
    next = place.waiting_for->message.peer;
  }
  if (!failure_) diagnose_again();
}

/// Messages in the table have no other end yet, so the states need no channel counts.
std::vector<RankState> MatchTable::states() const {
  std::vector<RankState> states(ranks_.size());
  for (std::size_t rank = 0; rank < states.size(); ++rank) {
    std::vector<const LocalPending*> posted;
    for (const auto& [channel, queue] : ranks_[rank].unmatched) {
      for (const auto& pending : queue) posted.push_back(pending.get());
    }
    // A collective that waits for the rest of its members is not a message.
    const LocalPending* const waiting = ranks_[rank].waiting_for;
    if (waiting != nullptr && waiting->stage == LocalPending::Stage::kPosted &&
        std::find(posted.begin(), posted.end(), waiting) == posted.end())
      posted.push_back(waiting);
    std::sort(posted.begin(), posted.end(), [](const auto* a, const auto* b) { return a->order < b->order; });
    for (const LocalPending* pending : posted) {
      if (ranks_[rank].waiting_for == pending) states[rank].waiting_for = states[rank].posted.size();
      states[rank].posted.push_back(pending->message.posted_op(pending->order));
    }
    states[rank].activity = ranks_[rank].activity;
    // Waits for a message that has been matched meanwhile: it will go on.
    if (states[rank].activity == RankActivity::kWaiting && !states[rank].waiting_for)
      states[rank].activity = RankActivity::kRunning;
  }
  return states;
}

}  // namespace lab::comm
