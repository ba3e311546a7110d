#pragma once

#include <cstdint>
#include <string>

#include "common/comm/messages/collective_backend.h"
#include "common/comm/transport.h"

namespace lab::comm {

/// Collectives built from a transport's messages: used in worlds without native ones, and for reduce_scatter
/// everywhere. Simple and exact rather than fast: sums are taken in rank order, so every rank gets the same bits in
/// every run.
class MessageCollectives : public CollectiveBackend {
 public:
  explicit MessageCollectives(Transport& transport) : transport_(transport) {}

  /// Binomial tree: ceil(lg P) steps.
  void broadcast(const at::Tensor& tensor, int src_rank, const Group& group) override;
  /// Pairwise reduce-scatter, then pairwise all-gather: 2 (P-1)/P n bytes sent per rank.
  void all_reduce(const at::Tensor& tensor, const Group& group) override;
  /// Pairwise: every rank sends its own part to each other rank.
  void all_gather(const at::Tensor& in, const at::Tensor& out, const Group& group) override;
  /// Pairwise: chunk i goes to rank i, which adds the chunks in rank order.
  void reduce_scatter(const at::Tensor& in, const at::Tensor& out, const Group& group) override;
  /// Dissemination: ceil(lg P) steps of empty messages.
  void barrier(const Group& group) override;
  /// Pairwise.
  void all_to_all(const std::vector<at::Tensor>& parts, const std::vector<at::Tensor>& received, const Group& group,
                  SourceLine where) override;

 private:
  Transport& transport_;
};

/// Returns once every member has called it with the same operation and the same dtype and shape: the latest of the
/// members' model times. No payload moves.
/// Cost      ceil(lg P) rounds of empty messages, which no ledger counts and which take no model time themselves
/// Errors    ContractError on the ranks that see a difference, naming both; CommError on the others
std::int64_t agree(Transport& transport, const Group& group, const std::string& operation, const at::Tensor& tensor,
                   SourceLine where, std::int64_t model_time = 0);

}  // namespace lab::comm
