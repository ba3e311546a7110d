#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/comm/process/lane.h"
#include "common/comm/watch/event_file.h"

namespace lab::comm {

/// One process's end of its world: each message takes the lane that leads to its peer.
class ProcessTransport final : public Transport {
 public:
  /// `to_all` leads to every rank. `events`: the launcher's, or null. All must outlive this object.
  ProcessTransport(int rank, int size, Lane& to_all, WaitGuard& guard, RankEvents* events);

  /// From the next message on. `near` leads to those ranks; it is attended to while this rank waits for others.
  void use_for(const std::vector<int>& ranks, NearLane& near);

  /// hosts[r]: the number of rank r's host. Until then all count as on one.
  void set_hosts(std::vector<int> hosts) { hosts_ = std::move(hosts); }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(lanes_.size()); }
  int host_of(int rank) const override { return hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(rank)]; }
  std::shared_ptr<Pending> post(Message&& message) override;
  void wait(Pending& pending) override;
  void abandon(std::shared_ptr<Pending> pending) override;
  void set_task(const std::string& task) override;
  double now() const override;
  void pass_time(double seconds) override;
  void close() override;
  void fail(ExitCode exit_code, const std::string& message) override;

 private:
  Lane& lane_to(int rank) { return *lanes_[static_cast<std::size_t>(rank)]; }

  const int rank_;
  std::vector<Lane*> lanes_;  ///< by rank
  std::vector<int> hosts_;    ///< by rank
  NearLane* near_ = nullptr;
  WaitGuard& guard_;
  RankEvents* events_;
  std::vector<std::shared_ptr<Pending>> graveyard_;
  int involved_rank_ = -1;  ///< the other side of a contract mismatch found by this rank
};

}  // namespace lab::comm
