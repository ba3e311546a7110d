#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "common/comm/messages/match_table.h"
#include "common/comm/sim/engine.h"
#include "common/comm/sim_world.h"

namespace lab::comm {

/// State shared by the ranks. A message is matched when its second end is posted, and then travels through the
/// simulated network; both ends are done when it arrives. One rank runs at a time, so nothing is locked.
class SimWorld::Hub {
 public:
  Hub(const SimNetwork& network, int num_ranks, double timeout_seconds)
      : timeout_seconds_(timeout_seconds),
        ranks_per_host_(network.ranks_per_host),
        table_(num_ranks),
        deadlines_(static_cast<std::size_t>(num_ranks), kNever),
        engine_(network, num_ranks) {}

  int size() const { return table_.size(); }
  int host_of(int rank) const { return rank / ranks_per_host_; }
  double now() const { return engine_.now(); }
  void pass_time(double seconds) {
    if (seconds > 0) engine_.sleep(seconds);
    table_.throw_if_failed();
  }
  void run(const std::function<void(int rank)>& body) {
    engine_.run([&](int rank) {
      body(rank);
      finish(rank);
    });
  }

  std::shared_ptr<Pending> post(int rank, Message&& message) {
    auto mine = std::make_shared<LocalPending>(rank, std::move(message));
    table_.throw_if_failed();
    if (auto match = table_.post(mine)) {
      if (match->agrees()) {
        const int src_rank = match->source->owner, dst_rank = match->target->owner;
        const std::uint64_t num_bytes = match->num_bytes();
        engine_.transfer(src_rank, dst_rank, num_bytes, [this, match = std::move(*match)] { arrived(match); });
      } else {
        wake_if_waiting(mine->message.peer);
      }
    }
    return mine;
  }

  void wait(int rank, const LocalPending& pending) {
    using Stage = LocalPending::Stage;
    if (pending.stage != Stage::kDone && !table_.failed()) {
      const double deadline = now() + timeout_seconds_;
      table_.wait_begins(rank, pending);
      if (table_.failed()) wake_all();
      deadlines_[static_cast<std::size_t>(rank)] = deadline;
      while (pending.stage != Stage::kDone && !table_.failed() && now() < deadline) {
        if (alarm_at_ > deadline) set_alarm(deadline);
        engine_.block();
      }
      deadlines_[static_cast<std::size_t>(rank)] = kNever;
      table_.wait_ends(rank);
    }
    table_.conclude(pending, timeout_seconds_);
  }

  void fail(int rank, ExitCode exit_code, const std::string& message) {
    table_.fail(rank, exit_code, message);
    wake_all();
  }

  void close(int rank) {
    finish(rank);
    while (!table_.failed() && !table_.all_finished()) {
      closing_.push_back(rank);
      engine_.block();
    }
    if (!table_.all_finished()) table_.throw_if_failed();
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void arrived(const Match& match) {
    match.copy_payload();
    match.complete(now());
    for (const LocalPending* end : {match.source.get(), match.target.get()}) {
      if (table_.waiting_for(end->owner) == end) engine_.wake(end->owner);
    }
  }

  void finish(int rank) {
    table_.finish(rank);
    if (table_.failed() || table_.all_finished()) wake_all();
  }

  void wake_if_waiting(int rank) {
    if (table_.waiting_for(rank) != nullptr) engine_.wake(rank);
  }

  void wake_all() {
    for (int rank = 0; rank < size(); ++rank) wake_if_waiting(rank);
    for (const int rank : closing_) engine_.wake(rank);
    closing_.clear();
    alarm_at_ = kNever;
    engine_.clear_alarm();  // otherwise the clock would advance to it after all ranks have ended
  }

  /// One alarm serves all waits: the time-out is the same for all, so the first wait's deadline is the earliest.
  void set_alarm(double at_seconds) {
    alarm_at_ = at_seconds;
    engine_.set_alarm(at_seconds, [this] {
      alarm_at_ = kNever;
      for (int rank = 0; rank < size(); ++rank) {
        if (deadlines_[static_cast<std::size_t>(rank)] <= now()) engine_.wake(rank);
      }
      const double next = *std::min_element(deadlines_.begin(), deadlines_.end());
      if (next > now() && next < kNever) set_alarm(next);
    });
  }

  const double timeout_seconds_;
  const int ranks_per_host_;
  MatchTable table_;
  std::vector<double> deadlines_;  ///< of each rank's wait
  double alarm_at_ = kNever;
  std::vector<int> closing_;  ///< ranks that wait for the others to finish
  SimEngine engine_;
};

namespace {

class SimTransport final : public Transport {
 public:
  SimTransport(SimWorld::Hub& hub, int rank) : hub_(hub), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  int host_of(int rank) const override { return hub_.host_of(rank); }
  std::shared_ptr<Pending> post(Message&& message) override { return hub_.post(rank_, std::move(message)); }
  void wait(Pending& pending) override { hub_.wait(rank_, static_cast<LocalPending&>(pending)); }
  void abandon(std::shared_ptr<Pending>) override {}  // the table, or the message in flight, keeps it alive
  double now() const override { return hub_.now(); }
  void pass_time(double seconds) override { hub_.pass_time(seconds); }
  void close() override { hub_.close(rank_); }
  void fail(ExitCode exit_code, const std::string& message) override { hub_.fail(rank_, exit_code, message); }

 private:
  SimWorld::Hub& hub_;
  int rank_;
};

}  // namespace

bool SimWorld::available() {
  return true;
}

SimWorld::SimWorld(const SimNetwork& network, int num_ranks, double timeout_seconds) {
  check_network(network);
  hub_ = std::make_unique<Hub>(network, num_ranks, timeout_seconds);
}

SimWorld::~SimWorld() = default;

std::shared_ptr<Transport> SimWorld::transport(int rank) {
  return std::make_shared<SimTransport>(*hub_, rank);
}

void SimWorld::run(const std::function<void(int rank)>& body) {
  hub_->run(body);
}

}  // namespace lab::comm
