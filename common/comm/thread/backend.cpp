#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "common/comm/messages/match_table.h"
#include "common/comm/thread_world.h"

namespace lab::comm {

/// State shared by the ranks. Messages are matched by whichever end is posted second; both then change under the mutex.
class ThreadWorld::Hub {
 public:
  Hub(int num_ranks, double timeout_seconds)
      : timeout_seconds_(timeout_seconds), table_(num_ranks), wakes_(static_cast<std::size_t>(num_ranks)) {}

  int size() const { return table_.size(); }
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::shared_ptr<Pending> post(int rank, Message&& message) {
    auto mine = std::make_shared<LocalPending>(rank, std::move(message));
    std::unique_lock<std::mutex> lock(mutex_);
    table_.throw_if_failed();
    if (const auto match = table_.post(mine)) {
      if (match->agrees()) {
        if (match->num_bytes() > 0) {
          lock.unlock();
          match->copy_payload();
          lock.lock();
        }
        match->complete(now());
      }
      wakes(mine->message.peer).notify_all();
    }
    return mine;
  }

  void wait(int rank, const LocalPending& pending) {
    using Stage = LocalPending::Stage;
    std::unique_lock<std::mutex> lock(mutex_);
    if (pending.stage != Stage::kDone) {
      table_.wait_begins(rank, pending);
      if (table_.failed()) wake_all();
      const auto timeout = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds_));
      wakes(rank).wait_until(lock, Clock::now() + timeout,
                             [&] { return pending.stage == Stage::kDone || table_.failed(); });
      // A matched message is being copied: it completes soon, and its memory must live until then.
      wakes(rank).wait(lock, [&] { return pending.stage != Stage::kMatched; });
      table_.wait_ends(rank);
    }
    table_.conclude(pending, timeout_seconds_);
  }

  void fail(int rank, ExitCode exit_code, const std::string& message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    table_.fail(rank, exit_code, message);
    wake_all();
  }

  void close(int rank) {
    std::unique_lock<std::mutex> lock(mutex_);
    finish(rank);
    const auto timeout = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds_));
    for (int num_finished = 0; !table_.failed() && !table_.all_finished();) {
      // The time-out restarts with each rank that returns.
      if (num_finished == table_.num_finished()) table_.throw_unfinished(rank, timeout_seconds_);
      num_finished = table_.num_finished();
      wakes(rank).wait_until(lock, Clock::now() + timeout,
                             [&] { return table_.failed() || table_.num_finished() != num_finished; });
    }
    if (!table_.all_finished()) table_.throw_if_failed();
  }

  void finished(int rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    finish(rank);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::condition_variable& wakes(int rank) { return wakes_[static_cast<std::size_t>(rank)]; }
  void wake_all() {
    for (std::condition_variable& each : wakes_) each.notify_all();
  }
  void finish(int rank) {
    table_.finish(rank);
    wake_all();
  }

  const double timeout_seconds_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  MatchTable table_;
  std::vector<std::condition_variable> wakes_;  ///< by rank
};

namespace {

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(ThreadWorld::Hub& hub, int rank) : hub_(hub), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  std::shared_ptr<Pending> post(Message&& message) override { return hub_.post(rank_, std::move(message)); }
  void wait(Pending& pending) override { hub_.wait(rank_, static_cast<LocalPending&>(pending)); }
  void abandon(std::shared_ptr<Pending>) override {}  // the table keeps unmatched messages alive
  double now() const override { return hub_.now(); }
  void pass_time(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
  void close() override { hub_.close(rank_); }
  void fail(ExitCode exit_code, const std::string& message) override { hub_.fail(rank_, exit_code, message); }

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

}  // namespace lab::comm
