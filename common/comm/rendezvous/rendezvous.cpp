#include "common/comm/rendezvous/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/api/errors.h"
#include "common/comm/rendezvous/fingerprint.h"

namespace lab::comm {
namespace {

/// Four pulses.
constexpr std::chrono::seconds kSilence{1};

}  // namespace

void RollCall::arrived(int rank, const std::string& process, Time now) {
  ranks_[rank] = {process, now, {rank, "has not joined yet"}};
}

void RollCall::note_pulse(int rank, const Pulse& pulse, Time now) {
  Rank& own = ranks_.at(rank);
  own.heard_at = now;
  own.pulse = pulse;
}

std::string RollCall::late_rank(int first, Time now) const {
  std::vector<std::string> silent;
  std::chrono::duration<double> longest{0};
  for (const auto& [rank, state] : ranks_) {
    if (now - state.heard_at < kSilence) continue;
    silent.push_back(fmt::format("rank {} ({})", rank, state.process));
    longest = std::max<std::chrono::duration<double>>(longest, now - state.heard_at);
  }
  if (!silent.empty()) {
    return fmt::format("; not heard from for {:.1f} s: {}; {} stopped, or cut off from rank 0", longest.count(),
                       fmt::join(silent, ", "), silent.size() == 1 ? "it is" : "they are");
  }
  std::set<int> seen;
  int late = first;
  while (seen.insert(late).second) {
    const auto state = ranks_.find(late);
    if (state == ranks_.end()) return "";
    const Pulse& pulse = state->second.pulse;
    if (pulse.waits_for == late) return late == first ? "" : fmt::format("; late: rank {} {}", late, pulse.doing);
    late = pulse.waits_for;
  }
  return "";
}

namespace {

RendezvousMessage refusal(ExitCode exit_code, const std::string& message) {
  return to_message(RendezvousKind::kFailed, Refusal{static_cast<int>(exit_code), "rendezvous: " + message});
}

}  // namespace

std::vector<Rendezvous::Reply> Rendezvous::receive(int connection, const RendezvousMessage& message, Time now) {
  if (!has_arrived(connection)) return arrive(connection, read_arrival(message), now);
  if (message.kind == RendezvousKind::kPulse || message.kind == RendezvousKind::kWhoIsLate) {
    if (!complete_) throw WireError("a pulse before every rank has arrived");
    const Pulse pulse = read_pulse(message);
    if (pulse.waits_for >= size_) throw WireError("a rank that is not there");
    const int rank = ranks_.at(connection);
    roll_call_.note_pulse(rank, pulse, now);
    if (message.kind == RendezvousKind::kPulse) return {};
    return {{connection, {RendezvousKind::kLate, roll_call_.late_rank(rank, now)}}};
  }
  if (message.kind != RendezvousKind::kGiveUp) return exchange(connection, read_exchange(message), now);
  const Refusal reason = read_refusal(message);
  return fail({static_cast<int>(ExitCode::kCommunication),
               fmt::format("rank {} failed: {}", ranks_.at(connection), reason.message)});
}

std::vector<Rendezvous::Reply> Rendezvous::arrive(int connection, const Arrival& arrival, Time now) {
  if (arrival.token != token_) {
    return {
        {connection, refusal(ExitCode::kUsage,
                             "rank 0 of another job listens at this address and port; hint: choose another port with "
                             "MASTER_PORT or --master-port")}};
  }
  if (arrival.rank < size_) known_ranks_.insert(arrival.rank);
  if (failure_) return {{connection, to_message(RendezvousKind::kFailed, *failure_)}};
  if (arrival.size != size_ || arrival.rank >= size_) {
    const std::string message =
        fmt::format("WORLD_SIZE: expected {} as on rank 0, got {} on rank {}; hint: start every rank with the same one",
                    size_, arrival.size, arrival.rank);
    const Reply to_newcomer{connection, refusal(ExitCode::kUsage, message)};
    if (complete_) return {to_newcomer};  // the run does not need it
    std::vector<Reply> replies = fail({static_cast<int>(ExitCode::kUsage), "rendezvous: " + message});
    replies.push_back(to_newcomer);
    return replies;
  }
  if (const auto first = processes_.find(arrival.rank); first != processes_.end()) {
    return {{connection,
             refusal(ExitCode::kUsage, fmt::format("rank {} has already arrived: expected one process with this rank, "
                                                   "got {} and {}; hint: start each rank once, and look for ranks "
                                                   "of an earlier run",
                                                   arrival.rank, first->second, arrival.process))}};
  }
  ranks_[connection] = arrival.rank;
  processes_[arrival.rank] = arrival.process;
  fingerprints_[arrival.rank] = arrival.fingerprint;
  waits_[connection] = {now + std::chrono::milliseconds(arrival.patience_ms), arrival.timeout_ms / 1000.0, {}};
  std::vector<Reply> replies = {{connection, {RendezvousKind::kHeard, ""}}};
  if (static_cast<int>(processes_.size()) < size_) return replies;
  for (Reply& reply : all_arrived(now)) replies.push_back(std::move(reply));
  return replies;
}

std::vector<Rendezvous::Reply> Rendezvous::all_arrived(Time now) {
  const std::string differences = describe_differences(fingerprints_);
  if (!differences.empty()) {
    return fail({static_cast<int>(ExitCode::kUsage),
                 fmt::format("rendezvous: the ranks were started differently: {}; hint: start every rank with the "
                             "same program and options",
                             differences)});
  }
  complete_ = true;
  for (const auto& [rank, process] : processes_) roll_call_.arrived(rank, process, now);
  waits_.clear();
  std::vector<Reply> replies;
  for (const auto& [connection, rank] : ranks_) replies.push_back({connection, {RendezvousKind::kEveryone, ""}});
  return replies;
}

std::vector<Rendezvous::Reply> Rendezvous::exchange(int connection, const Exchange& exchange, Time now) {
  if (failure_) return {{connection, to_message(RendezvousKind::kFailed, *failure_)}};
  if (!complete_ || waits_.count(connection) != 0) throw WireError("an exchange at the wrong time");
  std::map<int, int> members = {{exchange.index, connection}};  // by index
  for (const auto& [other, wait] : waits_) {
    if (wait.exchange->name != exchange.name) continue;
    if (wait.exchange->count != exchange.count || !members.emplace(wait.exchange->index, other).second)
      throw WireError("an exchange that differs from the other members'");
  }
  waits_[connection] = {now + std::chrono::milliseconds(exchange.timeout_ms), exchange.timeout_ms / 1000.0, exchange};
  if (static_cast<int>(members.size()) < exchange.count) return {};
  std::vector<Reply> replies;
  for (const auto& [index, taker] : members) {
    RendezvousMessage items{RendezvousKind::kItems, ""};
    for (const auto& [other_index, giver] : members) {
      const std::string& all = waits_.at(giver).exchange->items;
      const std::size_t num_bytes = all.size() / members.size();
      items.body += all.substr(static_cast<std::size_t>(index) * num_bytes, num_bytes);
    }
    replies.push_back({taker, std::move(items)});
  }
  for (const auto& [index, member] : members) waits_.erase(member);
  return replies;
}

std::vector<Rendezvous::Reply> Rendezvous::closed(int connection) {
  waits_.erase(connection);
  const auto entry = ranks_.find(connection);
  if (entry == ranks_.end()) return {};
  const int rank = entry->second;
  ranks_.erase(entry);
  // Also happens at the end of a successful run, when no rank reads it any more.
  return fail({static_cast<int>(ExitCode::kCommunication),
               fmt::format("rendezvous: {} (rank {}) ended before all ranks were connected; hint: its own message, or "
                           "its launcher's, says why",
                           processes_.at(rank), rank)});
}

std::vector<Rendezvous::Reply> Rendezvous::fail(const Refusal& refusal) {
  if (failure_) return {};
  failure_ = refusal;
  waits_.clear();
  std::vector<Reply> replies;
  for (const auto& [connection, rank] : ranks_) {
    replies.push_back({connection, to_message(RendezvousKind::kFailed, refusal)});
  }
  return replies;
}

bool Rendezvous::has_more_to_tell() const {
  return failure_ && failure_->exit_code == static_cast<int>(ExitCode::kUsage) && !complete_ &&
         static_cast<int>(known_ranks_.size()) < size_;
}

std::optional<Rendezvous::Time> Rendezvous::next_deadline() const {
  std::optional<Time> next;
  for (const auto& [connection, wait] : waits_) {
    if (!next || wait.deadline < *next) next = wait.deadline;
  }
  return next;
}

std::vector<Rendezvous::Reply> Rendezvous::expire(Time now) {
  for (const auto& [connection, wait] : waits_) {
    if (now < wait.deadline) continue;
    const std::string differences = complete_ ? "" : describe_differences(fingerprints_);
    // Ranks started differently explain more than a late rank.
    if (!differences.empty()) {
      return fail(
          {static_cast<int>(ExitCode::kUsage), fmt::format("rendezvous: the ranks were started differently: {}; and {}",
                                                           differences, describe_absent(wait))});
    }
    return fail({static_cast<int>(ExitCode::kCommunication), fmt::format("rendezvous: {}", describe_absent(wait))});
  }
  return {};
}

std::string Rendezvous::describe_absent(const Wait& wait) const {
  std::set<int> present;
  for (const auto& [connection, other] : waits_) {
    if (!wait.exchange) {
      present.insert(ranks_.at(connection));
    } else if (other.exchange->name == wait.exchange->name) {
      present.insert(other.exchange->index);
    }
  }
  std::vector<int> absent;
  const int count = wait.exchange ? wait.exchange->count : size_;
  for (int index = 0; index < count; ++index) {
    if (present.count(index) == 0) absent.push_back(index);
  }
  if (!wait.exchange) {
    return fmt::format(
        "{} of {} did not arrive within {:g} s; hint: start every rank, or give more time with --timeout",
        describe_ranks(absent), size_, wait.timeout_seconds);
  }
  return fmt::format("{} of the {} in {} did not leave an address within {:g} s", describe_ranks(absent), count,
                     wait.exchange->name, wait.timeout_seconds);
}

}  // namespace lab::comm
