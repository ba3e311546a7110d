#include "common/comm/shm/lane.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "common/comm/shm/peer.h"

namespace lab::comm {
namespace {

/// How long to look before sleeping. A rank that has a core of its own just looks at first. Later it lets others run
/// between two looks, as the kernel may have put the rank that it waits for on the same core.
class Patience {
 public:
  explicit Patience(bool spins) : num_spins_(spins ? kSpins : 0) {}
  /// Whether to look again; passes a moment.
  bool lasts() {
    if (num_looks_ >= num_spins_ + kYields) return false;
    if (num_looks_++ >= num_spins_) {
      ::sched_yield();
    } else {
#if defined(__x86_64__)
      __builtin_ia32_pause();  // the core's other thread may be the one that is waited for
#endif
    }
    return true;
  }

 private:
  static constexpr int kSpins = 200, kYields = 200;
  int num_spins_;
  int num_looks_ = 0;
};

class LaneOverMemory final : public NearLane {
 public:
  LaneOverMemory(const Neighbours& neighbours, WaitGuard& guard, bool spins)
      : segment_(neighbours.segment),
        guard_(guard),
        rank_(neighbours.members[static_cast<std::size_t>(neighbours.self)].rank),
        spins_(spins),
        bell_(segment_->doorbell(neighbours.self)) {
    for (std::size_t i = 0; i < neighbours.members.size(); ++i) {
      const auto index = static_cast<int>(i);
      if (index == neighbours.self) continue;
      by_rank_.resize(static_cast<std::size_t>(neighbours.members[i].rank) + 1);
      by_rank_.back() = &peers_.emplace_back(neighbours, index);
    }
  }

  ~LaneOverMemory() override {
    if (!helper_.joinable()) return;
    attend(false);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    helper_.join();
  }

  std::shared_ptr<ProcessPending> post(Message&& message) override {
    const auto pending = std::make_shared<ShmPending>(std::move(message));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pending->message.direction == Direction::kSend) {
      find_peer(*pending).post_send(*pending);
    } else {
      find_peer(*pending).post_receive(*pending);
    }
    return pending;
  }

  void wait(ProcessPending& base) override {
    auto& pending = static_cast<ShmPending&>(base);
    if (!look_for(pending)) {
      LaneWait wait(*this, pending);
      guard_.wait(wait, pending.message);
    }
    if (pending.is_lost) guard_.connection_lost();
    if (pending.disagreement) require_same_contract(*pending.disagreement, pending.message, rank_);
  }

  void attend(bool attends) override {
    std::unique_lock<std::mutex> lock(mutex_);
    attends_ = attends;
    if (attends && !helper_.joinable()) helper_ = std::thread([this] { help(); });
    changed_.notify_all();
    if (attends) return;
    bell_.ring();
    changed_.wait(lock, [this] { return !helps_; });
  }

 private:
  class LaneWait final : public Wait {
   public:
    LaneWait(LaneOverMemory& lane, ShmPending& pending) : lane_(lane), pending_(pending) {}
    End wait() override {
      Patience patience(lane_.spins_);
      for (;;) {
        if (lane_.look_for(pending_)) return pending_.is_lost ? End::kConnectionLost : End::kComplete;
        if (aborted_) return End::kAborted;
        if (!patience.lasts()) lane_.bell_.sleep_unless([this] { return aborted_ || lane_.has_work(); });
      }
    }
    void abort() override {
      aborted_ = true;
      lane_.bell_.ring();
    }
    bool may_have_arrived() override {
      const std::unique_lock<std::mutex> lock(lane_.mutex_, std::try_to_lock);
      return !lock || lane_.is_over(pending_) || lane_.has_work();
    }

   private:
    LaneOverMemory& lane_;
    ShmPending& pending_;
    std::atomic<bool> aborted_{false};
  };

  Peer& find_peer(const ShmPending& pending) const { return *by_rank_[static_cast<std::size_t>(pending.message.peer)]; }

  /// Makes progress. Whether the message is complete, or never will be.
  bool look_for(const ShmPending& pending) {
    const std::lock_guard<std::mutex> lock(mutex_);
    progress();
    return is_over(pending);
  }

  bool is_over(const ShmPending& pending) const {
    if (pending.is_lost) return true;
    if (pending.expects_posted || pending.expects_taken) return false;
    if (pending.message.direction == Direction::kRecv && !pending.has_arrived) return false;
    return !find_peer(pending).owes_records();  // else its peer would wait for what is there
  }

  bool has_work() const {
    return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.has_work(); });
  }

  void progress() {
    for (Peer& peer : peers_) peer.progress();
  }

  void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    // While the rank itself is at work elsewhere, this thread moves its messages on.
    for (;;) {
      changed_.wait(lock, [this] { return attends_ || stops_; });
      if (stops_) return;
      helps_ = true;
      while (attends_) {
        progress();
        lock.unlock();
        bell_.sleep_unless([this] { return !attends_ || has_work(); });
        lock.lock();
      }
      helps_ = false;
      changed_.notify_all();
    }
  }

  const std::shared_ptr<ShmSegment> segment_;
  WaitGuard& guard_;
  const int rank_;
  const bool spins_;
  Doorbell& bell_;
  std::deque<Peer> peers_;  ///< the neighbours; this rank itself has messages for others only
  std::vector<Peer*> by_rank_;

  std::mutex mutex_;  ///< of all that is in hand: this rank's thread or the helper holds it
  std::condition_variable changed_;
  std::thread helper_;
  std::atomic<bool> attends_{false};
  bool helps_ = false, stops_ = false;
};

}  // namespace

std::unique_ptr<NearLane> lane_over_memory(const Neighbours& neighbours, WaitGuard& guard, bool spins) {
  return std::make_unique<LaneOverMemory>(neighbours, guard, spins);
}

}  // namespace lab::comm
