#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/api/source_line.h"
#include "common/comm/watch/wait_graph.h"

namespace lab::comm {

/// What both sides of a message must agree on, and where it was posted.
struct Contract {
  std::string operation;  ///< "message" for both send and recv; a collective's own name
  at::ScalarType dtype = at::kFloat;
  std::vector<std::int64_t> shape;
  int tag = 0;
  std::string where;  ///< "collectives.cpp:41"
};

/// One message as a transport sees it: the tensor is contiguous, and its memory on the CPU is the payload. A tensor on
/// the meta device has sizes but no memory: worlds that share one memory pass on its sizes, the others refuse it.
struct Message : Channel {
  std::string operation = "message";
  SourceLine where;
  at::Tensor tensor;
  bool contract_only = false;  ///< compare operation, dtype and shape; move no bytes
  std::uint64_t step = 0;      ///< the sender's logical clock, delivered with the message
  /// Model time: when the bytes of a send may leave, or when a receive was posted; delivered to the other end. Of a
  /// contract, the latest clock that the sender knows of.
  std::int64_t model_posted = 0;

  std::uint64_t num_bytes() const { return contract_only ? 0 : static_cast<std::uint64_t>(tensor.nbytes()); }
  Contract contract() const;
  /// The same facts without the tensor, for the wait-for graph. The view is of this message.
  PostedOpView posted_op() const;
  PostedOp posted_op(std::uint64_t sequence) const { return posted_op().op(sequence); }
};

/// Empty when sender and receiver agree; otherwise an error message with both ranks, both contracts and both source
/// lines.
std::string contract_violation(int src_rank, const Contract& sent, int dst_rank, const Contract& expected);

/// The same for two messages. They must also both have data, or both be on the meta device.
std::string contract_violation(int src_rank, const Message& sent, int dst_rank, const Message& expected);

/// Refuses a tensor that is undefined, such as a gradient that has not been computed. `action`: "send to rank 1".
/// Errors    ContractError with the line, the rank and the action
void require_defined(const at::Tensor& tensor, int rank, const std::string& action, SourceLine where);

/// The tensor that is actually sent: the caller's own if possible (on the CPU or meta, contiguous, its values not those
/// of its memory's conjugated or negated), else a copy.
at::Tensor on_wire(const at::Tensor& tensor);

/// An uninitialized tensor for what is sent or received in place of the caller's: on the CPU, page-locked if that one is
/// on a GPU, which then copies it without another copy in between; on meta if that one is.
at::Tensor staging_for(const at::Tensor& tensor, at::IntArrayRef shape);

}  // namespace lab::comm
