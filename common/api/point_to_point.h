#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "common/api/errors.h"
#include "common/api/group.h"
#include "common/api/source_line.h"

// Messages between two ranks: send and recv block; isend and irecv return a Request, which is waited for later.
namespace lab::comm {

class Endpoint;
enum class Direction : std::uint8_t;
struct Pending;

/// A message that was posted with isend or irecv. Must be waited for exactly once; dropping one does not compile
/// ([[nodiscard]]) and abandoning one fails the run.
class [[nodiscard]] Request {
 public:
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  /// Blocks until the message is complete and returns its tensor: of a receive, the one that was filled.
  /// Errors    ContractError: the two ends disagree. CommError: the peer failed, died, or the time-out passed.
  ///           DeadlockError: it can never complete.
  at::Tensor wait();

 private:
  friend class PointToPoint;
  Request(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<Pending> pending);
  std::shared_ptr<Endpoint> endpoint_;
  std::shared_ptr<Pending> pending_;  ///< null once it was waited for
};

/// Messages between two ranks of one group: all that a student's collective, pipeline or convolution may use.
///
/// A send is a rendezvous: it completes only once the receiver has posted the matching receive. Messages between the
/// same two ranks with the same tag arrive in the order in which they were sent. Shape and dtype must be equal on both
/// ends, and are compared before any data is written. A tensor may be non-contiguous; a receive still fills it in
/// place.
class PointToPoint final {
 public:
  PointToPoint(std::shared_ptr<Endpoint> endpoint, Group group);

  int rank() const { return group_.rank; }
  int size() const { return group_.size(); }

  /// The number of the host that a rank runs on: the same for ranks that share a machine.
  /// Errors    ContractError: rank out of range
  int host_of(int rank, SourceLine where = SourceLine::current()) const;

  /// The same for some of these ranks, renumbered in the given order. Called by those ranks only, each with the same
  /// list; sends nothing.
  /// Errors    ContractError: a rank out of range or twice, or this rank not listed
  /// Example   of 4 ranks, on 1 and 3: subgroup({1, 3}) -> size 2, ranks 0 and 1
  PointToPoint subgroup(const std::vector<int>& ranks) const;

  /// Blocks until `dst_rank` has received the tensor. No autograd.
  /// Errors    ContractError: dst_rank out of range or this rank itself; the receiver expects another shape or dtype.
  /// Example   rank 0: send(x, 1);  rank 1: recv(y, 0);  // y now equals x
  void send(const at::Tensor& tensor, int dst_rank, int tag = 0, SourceLine where = SourceLine::current());

  /// Blocks until the tensor holds what `src_rank` sent. Errors as for send.
  void recv(const at::Tensor& tensor, int src_rank, int tag = 0, SourceLine where = SourceLine::current());

  /// Posts a send and returns at once; the tensor must not change before wait(), nor be received into.
  /// Errors    as for send; ContractError: an irecv into the same memory is under way. wait(): the tensor was changed
  [[nodiscard]] Request isend(const at::Tensor& tensor, int dst_rank, int tag = 0,
                              SourceLine where = SourceLine::current());

  /// Posts a receive and returns at once; the tensor must not be read before wait().
  /// Errors    as for recv; ContractError: an isend of the same memory, or an irecv into it, is under way
  [[nodiscard]] Request irecv(const at::Tensor& tensor, int src_rank, int tag = 0,
                              SourceLine where = SourceLine::current());

  /// For the start of a collective: returns once every rank has called it with the same operation (a short text, in
  /// which arguments take the place of "{}") and the same dtype and shape. Otherwise no rank returns, so no payload
  /// moves. Does nothing where the world is not careful: as in PyTorch, timed runs skip the check.
  /// Cost      ceil(lg P) rounds of empty messages, which are no traffic in the ledger; in model time, all go on with the
  ///           last rank
  /// Errors    ContractError on the ranks that see a difference, naming both; CommError on the others
  /// Example   agree("my_broadcast from {}", tensor, {src_rank})
  void agree(std::string_view operation, const at::Tensor& tensor, std::initializer_list<std::int64_t> arguments = {},
             SourceLine where = SourceLine::current());

 private:
  /// `at_once`: the caller waits for it before anything else happens.
  Request post(Direction direction, const at::Tensor& tensor, int peer, int tag, SourceLine where, bool at_once);

  std::shared_ptr<Endpoint> endpoint_;
  Group group_;
};

}  // namespace lab::comm

namespace lab {
using comm::PointToPoint;
using comm::Request;
}  // namespace lab
