#include "common/comm/thread_backend.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;
using Channel = std::tuple<int, Direction, int, std::uint32_t, int>;  // owner, direction, peer, group, tag

struct ThreadPending final : Pending {
  Message message;
  int owner = 0;
  std::uint64_t sequence = 0;
  enum class Stage { kPosted, kMatched, kDone } stage = Stage::kPosted;
  std::string violation;  ///< why the two ends do not agree; then nothing was copied

  Channel channel() const { return {owner, message.direction, message.peer, message.group, message.tag}; }
  Channel counterpart() const {
    const Direction opposite = message.direction == Direction::kSend ? Direction::kRecv : Direction::kSend;
    return {message.peer, opposite, owner, message.group, message.tag};
  }
};

struct Failure {
  int rank = -1;  ///< -1: nobody's own fault, the world is stuck
  ExitCode exit_code = ExitCode::kInternal;
  std::string sentence;
};

struct RankPlace {
  std::condition_variable wakes;
  RankActivity activity = RankActivity::kRunning;
  const ThreadPending* waiting_for = nullptr;
};

}  // namespace

/// What the ranks share. Messages are matched by whichever end is posted second; both ends then change under the mutex.
class ThreadWorld::Hub {
 public:
  Hub(int num_ranks, double timeout_seconds)
      : timeout_seconds_(timeout_seconds), ranks_(static_cast<std::size_t>(num_ranks)) {}

  int size() const { return static_cast<int>(ranks_.size()); }
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::shared_ptr<Pending> post(int rank, Message message) {
    auto mine = std::make_shared<ThreadPending>();
    mine->message = std::move(message);
    mine->owner = rank;
    std::unique_lock<std::mutex> lock(mutex_);
    throw_if_failed();
    mine->sequence = num_posted_[mine->channel()]++;
    auto& theirs = unmatched_[mine->counterpart()];
    if (theirs.empty()) {
      unmatched_[mine->channel()].push_back(mine);
    } else {
      const std::shared_ptr<ThreadPending> first = std::move(theirs.front());
      theirs.pop_front();
      match(lock, *mine, *first);
    }
    return mine;
  }

  void wait(int rank, const ThreadPending& pending) {
    using Stage = ThreadPending::Stage;
    std::unique_lock<std::mutex> lock(mutex_);
    if (pending.stage != Stage::kDone) {
      RankPlace& place = at(rank);
      place.activity = RankActivity::kWaiting;
      place.waiting_for = &pending;
      find_deadlock(rank);
      const auto timeout = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds_));
      place.wakes.wait_until(lock, Clock::now() + timeout, [&] { return pending.stage == Stage::kDone || failure_; });
      // A matched message is being copied: it completes at once, and its memory must not go away before.
      place.wakes.wait(lock, [&] { return pending.stage != Stage::kMatched; });
      place.activity = RankActivity::kRunning;
      place.waiting_for = nullptr;
    }
    if (!pending.violation.empty()) throw ContractError(pending.violation);
    if (pending.stage == Stage::kDone) return;
    throw_if_failed();
    throw CommError(fmt::format("timed out after {:g} s: rank {} {}", timeout_seconds_, rank,
                                describe_wait(pending.message.posted_op(pending.sequence))));
  }

  void fail(int rank, ExitCode exit_code, const std::string& sentence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    at(rank).activity = RankActivity::kFailed;
    if (!failure_) declare({rank, exit_code, sentence});
  }

  void close(int rank) {
    std::unique_lock<std::mutex> lock(mutex_);
    finish(rank);
    at(rank).wakes.wait(lock, [&] { return failure_ || num_finished_ == size(); });
    if (num_finished_ != size()) throw_if_failed();
  }

  void finished(int rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (at(rank).activity != RankActivity::kFailed) finish(rank);
  }

 private:
  RankPlace& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void match(std::unique_lock<std::mutex>& lock, ThreadPending& mine, ThreadPending& theirs) {
    const bool sends = mine.message.direction == Direction::kSend;
    ThreadPending& source = sends ? mine : theirs;
    ThreadPending& target = sends ? theirs : mine;
    const std::string violation =
        contract_violation(source.owner, source.message.contract(), target.owner, target.message.contract());
    if (violation.empty() && source.message.num_bytes() > 0) {
      mine.stage = theirs.stage = ThreadPending::Stage::kMatched;
      lock.unlock();
      std::memcpy(target.message.tensor.data_ptr(), source.message.tensor.data_ptr(), source.message.num_bytes());
      lock.lock();
    }
    target.peer_step = source.message.step;
    mine.violation = theirs.violation = violation;
    mine.stage = theirs.stage = ThreadPending::Stage::kDone;
    at(theirs.owner).wakes.notify_all();
  }

  /// Follows the waits from `rank`: every waiting rank waits for exactly one other.
  void find_deadlock(int rank) {
    int next = rank;
    for (int hops = 0; hops <= size(); ++hops) {
      const RankPlace& place = at(next);
      if (place.activity == RankActivity::kFinished) break;
      const bool blocked =
          place.activity == RankActivity::kWaiting && place.waiting_for->stage == ThreadPending::Stage::kPosted;
      if (!blocked) return;
      next = place.waiting_for->message.peer;
    }
    if (failure_) return;
    if (const auto diagnosis = diagnose(states())) declare({-1, diagnosis->exit_code, diagnosis->sentence});
  }

  std::vector<RankState> states() const {
    std::vector<RankState> states(ranks_.size());
    for (const auto& [channel, count] : num_posted_) {
      const auto& [owner, direction, peer, group, tag] = channel;
      states[static_cast<std::size_t>(owner)].channels.push_back({direction, peer, group, tag, count});
    }
    for (const auto& [channel, queue] : unmatched_) {
      RankState& state = states[static_cast<std::size_t>(std::get<0>(channel))];
      const ThreadPending* waiting_for = ranks_[static_cast<std::size_t>(std::get<0>(channel))].waiting_for;
      for (const auto& pending : queue) {
        if (pending.get() == waiting_for) state.waiting_for = state.posted.size();
        state.posted.push_back(pending->message.posted_op(pending->sequence));
      }
    }
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
      states[rank].activity = ranks_[rank].activity;
      // Waiting for a message that was matched meanwhile: it will go on.
      if (states[rank].activity == RankActivity::kWaiting && !states[rank].waiting_for)
        states[rank].activity = RankActivity::kRunning;
    }
    return states;
  }

  void finish(int rank) {
    if (at(rank).activity == RankActivity::kFinished) return;
    at(rank).activity = RankActivity::kFinished;
    ++num_finished_;
    for (int other = 0; other < size(); ++other) {
      if (at(other).activity == RankActivity::kWaiting) find_deadlock(other);
    }
    for (RankPlace& place : ranks_) place.wakes.notify_all();
  }

  void declare(Failure failure) {
    failure_ = std::move(failure);
    for (RankPlace& place : ranks_) place.wakes.notify_all();
  }

  void throw_if_failed() const {
    if (!failure_) return;
    if (failure_->rank < 0) raise(failure_->exit_code, failure_->sentence);
    throw CommError(fmt::format("rank {} failed: {}", failure_->rank, failure_->sentence));
  }

  const double timeout_seconds_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::vector<RankPlace> ranks_;
  std::map<Channel, std::deque<std::shared_ptr<ThreadPending>>> unmatched_;  ///< keeps abandoned messages alive, too
  std::map<Channel, std::uint64_t> num_posted_;
  std::optional<Failure> failure_;  ///< the first one
  int num_finished_ = 0;
};

namespace {

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(ThreadWorld::Hub& hub, int rank) : hub_(hub), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  std::shared_ptr<Pending> start_send(Message message) override { return hub_.post(rank_, std::move(message)); }
  std::shared_ptr<Pending> start_recv(Message message) override { return hub_.post(rank_, std::move(message)); }
  void wait(Pending& pending) override { hub_.wait(rank_, static_cast<ThreadPending&>(pending)); }
  void abandon(std::shared_ptr<Pending>) override {}  // the hub keeps whatever is unmatched
  double now() const override { return hub_.now(); }
  void close() override { hub_.close(rank_); }
  void fail(ExitCode exit_code, const std::string& sentence) override { hub_.fail(rank_, exit_code, sentence); }

 private:
  ThreadWorld::Hub& hub_;
  int rank_;
};

}  // namespace

ThreadWorld::ThreadWorld(int num_ranks, double timeout_seconds)
    : hub_(std::make_unique<Hub>(num_ranks, timeout_seconds)) {}
ThreadWorld::~ThreadWorld() = default;
std::shared_ptr<Transport> ThreadWorld::transport(int rank) {
  return std::make_shared<ThreadTransport>(*hub_, rank);
}
void ThreadWorld::finished(int rank) {
  hub_->finished(rank);
}

}  // namespace lab
