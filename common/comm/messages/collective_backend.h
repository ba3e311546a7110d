#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/api/source_line.h"
#include "common/comm/group.h"

namespace lab::comm {

/// The built-in collectives of one world. Tensors are contiguous, on the CPU, and already checked to have equal shape
/// and dtype on all members, except those of all_to_all; out tensors are allocated by the caller.
class CollectiveBackend {
 public:
  virtual ~CollectiveBackend() = default;
  virtual void broadcast(const at::Tensor& tensor, int src_rank, const Group& group) = 0;
  virtual void all_reduce(const at::Tensor& tensor, const Group& group) = 0;
  /// out: [P, ...] for in: [...]
  virtual void all_gather(const at::Tensor& in, const at::Tensor& out, const Group& group) = 0;
  /// in: [P, ...] for out: [...]
  virtual void reduce_scatter(const at::Tensor& in, const at::Tensor& out, const Group& group) = 0;
  virtual void barrier(const Group& group) = 0;
  /// parts[i] goes to member i, received[i] comes from it; this member's own are left alone. Nobody has compared the
  /// shapes yet: ContractError, naming `where`, if the two sides of a part disagree.
  virtual void all_to_all(const std::vector<at::Tensor>& parts, const std::vector<at::Tensor>& received,
                          const Group& group, SourceLine where) = 0;
  /// The model time at which the last collective began on all its members, in a world that keeps the ranks' clocks
  /// itself; none: they find it out.
  virtual std::optional<std::int64_t> model_began() const { return std::nullopt; }
};

}  // namespace lab::comm
