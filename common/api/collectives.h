#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "common/api/group.h"
#include "common/api/source_line.h"

namespace lab {
struct LedgerEntry;
}  // namespace lab

namespace lab::comm {

class CollectiveBackend;
class Endpoint;
struct BegunCollective;

/// The built-in collectives of one group, for labs that do not implement them. Every member calls the same operation
/// with the same shape and dtype in the same order; these are compared before any data moves, so a mismatch is a
/// ContractError on the ranks that see it and a CommError on the others, never a hang or a torn buffer. None of them is
/// differentiable: autograd functions are built on top. All errors of Request::wait() apply.
/// In model time (comm/model_time.md) a collective begins on all members when the last of them has called it. Where the
/// world is not careful, members do not hear of each other's clocks, and each begins at its own.
class Collectives final {
 public:
  Collectives(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<CollectiveBackend> backend, Group group);

  int rank() const { return group_.rank; }
  int size() const { return group_.size(); }

  /// Overwrites `tensor` on every rank with what `src_rank` holds, and returns it.
  at::Tensor broadcast(const at::Tensor& tensor, int src_rank, SourceLine where = SourceLine::current());

  /// Overwrites `tensor` on every rank with the sum over all ranks, and returns it. The summation order depends
  /// on the world.
  at::Tensor all_reduce(const at::Tensor& tensor, SourceLine where = SourceLine::current());

  /// The tensors of all ranks, in rank order; the parts share one new storage, contiguous in rank order.
  /// Example   rank r has [r]: returns {[0], [1], ...}
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor, SourceLine where = SourceLine::current());

  /// The sum over all ranks of their r-th chunk along dim 0, on rank r. Shapes: in [P*N, ...], out [N, ...], new.
  /// Errors    ContractError: dim 0 is not divisible by the number of ranks.
  at::Tensor reduce_scatter(const at::Tensor& tensor, SourceLine where = SourceLine::current());

  /// Sends parts[i] to rank i and returns what each rank sent here, in rank order: shapes[i] is the shape of rank i's
  /// part, so uneven parts need no padding. Each pair of ranks checks its own part.
  std::vector<at::Tensor> all_to_all(const std::vector<at::Tensor>& parts,
                                     const std::vector<std::vector<std::int64_t>>& shapes,
                                     SourceLine where = SourceLine::current());

  /// Returns once every rank has called it.
  void barrier(SourceLine where = SourceLine::current());

 private:
  /// Begins once every member is known to have called the same operation; counted and traced by account().
  BegunCollective begin(const char* operation, const at::Tensor& tensor, SourceLine where);
  BegunCollective begin_carefully(const char* operation, const at::Tensor& tensor, SourceLine where);
  /// Of an all_to_all, whose members need not have equal shapes.
  BegunCollective begin_exchange(const at::Tensor& part, SourceLine where);
  void account(const LedgerEntry& cost, std::int64_t bytes, BegunCollective begun);

  std::shared_ptr<Endpoint> endpoint_;
  std::shared_ptr<CollectiveBackend> backend_;
  Group group_;
};

}  // namespace lab::comm

namespace lab {
using comm::Collectives;
}  // namespace lab
