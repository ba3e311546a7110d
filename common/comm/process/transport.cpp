#include "common/comm/process/transport.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace lab::comm {
namespace {

/// While a rank waits for a message from another host, its neighbours may wait for it.
class Attending {
 public:
  explicit Attending(NearLane* lane) : lane_(lane) {
    if (lane_ != nullptr) lane_->attend(true);
  }
  ~Attending() {
    if (lane_ != nullptr) lane_->attend(false);
  }
  Attending(const Attending&) = delete;
  Attending& operator=(const Attending&) = delete;

 private:
  NearLane* lane_;
};

}  // namespace

ProcessTransport::ProcessTransport(int rank, int size, Lane& to_all, WaitGuard& guard, RankEvents* events)
    : rank_(rank), lanes_(static_cast<std::size_t>(size), &to_all), guard_(guard), events_(events) {}

void ProcessTransport::use_for(const std::vector<int>& ranks, NearLane& near) {
  for (const int other : ranks) lanes_[static_cast<std::size_t>(other)] = &near;
  near_ = &near;
}

std::shared_ptr<Pending> ProcessTransport::post(Message&& message) {
  require_few_dims(message);
  guard_.check();
  if (message.tensor.is_meta()) {
    throw ContractError(
        fmt::format("{}: a meta tensor has no data to send; hint: meta tensors are for --world sim and threads",
                    message.where.text()));
  }
  const int event_slot = events_ != nullptr ? events_->posted(message.posted_op()) : -1;
  std::shared_ptr<ProcessPending> pending = lane_to(message.peer).post(std::move(message));
  pending->event_slot = event_slot;
  return pending;
}

void ProcessTransport::wait(Pending& base) {
  auto& pending = static_cast<ProcessPending&>(base);
  const bool is_listed = events_ != nullptr && pending.event_slot >= 0;
  if (is_listed) events_->waiting(pending.event_slot);
  try {
    Lane& lane = lane_to(pending.message.peer);
    const Attending attending(&lane == near_ ? nullptr : near_);
    lane.wait(pending);
  } catch (const ContractError&) {
    involved_rank_ = pending.message.peer;
    throw;
  }
  if (!is_listed) return;
  events_->resumed();
  events_->completed(pending.event_slot);
}

void ProcessTransport::abandon(std::shared_ptr<Pending> pending) {
  // Its memory is known to the other end, or to Gloo, which has no cancel.
  graveyard_.push_back(std::move(pending));
}

void ProcessTransport::set_task(const std::string& task) {
  if (events_ != nullptr) events_->set_task(task);
  guard_.set_task(task);
}

double ProcessTransport::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ProcessTransport::pass_time(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void ProcessTransport::close() {
  if (events_ != nullptr) events_->set_activity(RankActivity::kFinished);
  guard_.close();
}

void ProcessTransport::fail(ExitCode exit_code, const std::string& message) {
  if (events_ != nullptr) events_->set_activity(RankActivity::kFailed, message);
  guard_.fail(exit_code, message, involved_rank_);
}

}  // namespace lab::comm
