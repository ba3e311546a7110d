#pragma once

#include <gloo/context.h>

#include <chrono>
#include <map>
#include <memory>

#include "common/comm/gloo/connector.h"
#include "common/comm/gloo/lifeline.h"
#include "common/comm/messages/message_collectives.h"

// Gloo's own collectives. Internal to comm/gloo.
namespace lab::comm {

/// broadcast, all_reduce, all_gather and barrier are Gloo's; reduce_scatter, which Gloo offers only for bound buffers
/// and powers of two, is built from messages. Each group makes its own connections at its first collective.
class GlooCollectives final : public MessageCollectives {
 public:
  GlooCollectives(Transport& transport, Lifeline& lifeline, Connector& connector, double timeout_seconds,
                  RankEvents* events);

  void broadcast(const at::Tensor& tensor, int src_rank, const Group& group) override;
  void all_reduce(const at::Tensor& tensor, const Group& group) override;
  void all_gather(const at::Tensor& in, const at::Tensor& out, const Group& group) override;
  void barrier(const Group& group) override;

 private:
  /// Of one group. Members of one group may have done more collectives than those of another, so each counts its own.
  struct GroupConnections {
    std::shared_ptr<gloo::Context> context;
    std::uint32_t next_tag = 0;
  };

  /// Runs one of Gloo's operations: it blocks inside Gloo, and a lost connection becomes one of this suite's errors.
  template <typename Operation>
  void run(const char* name, const Group& group, const Operation& operation);

  Lifeline& lifeline_;
  Connector& connector_;
  const std::chrono::milliseconds timeout_;
  RankEvents* events_;
  std::map<std::uint32_t, GroupConnections> connections_;
};

}  // namespace lab::comm
