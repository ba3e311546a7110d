#include "common/comm/message.h"

#include <fmt/format.h>

#include <cstring>

#include "common/tensor/describe.h"

namespace lab {
namespace {

std::string describe(const Contract& contract) {
  return fmt::format("{} {}", dtype_name(contract.dtype), shape_text(contract.shape));
}

}  // namespace

Contract Message::contract() const {
  return {operation, tensor.scalar_type(), tensor.sizes().vec(), tag, where.text()};
}

PostedOp Message::posted_op(std::uint64_t sequence) const {
  PostedOp op;
  op.direction = direction;
  op.peer = peer;
  op.group = group;
  op.tag = tag;
  op.sequence = sequence;
  op.bytes = num_bytes();
  op.operation = std::strcmp(operation, "message") != 0 ? operation : direction == Direction::kSend ? "send" : "recv";
  op.contract = lab::describe(tensor);
  op.where = where.text();
  return op;
}

std::string contract_violation(int src_rank, const Contract& sent, int dst_rank, const Contract& expected) {
  if (sent.operation != expected.operation) {
    return fmt::format(
        "operation mismatch: rank {} is in {} ({}), rank {} is in {} ({}); hint: every rank must call "
        "the same operations in the same order",
        src_rank, sent.operation, sent.where, dst_rank, expected.operation, expected.where);
  }
  if (sent.dtype == expected.dtype && sent.shape == expected.shape) return "";
  const char* what = sent.dtype != expected.dtype ? "dtype" : "shape";
  if (sent.operation == "message") {
    return fmt::format("{} mismatch: rank {} sends {} to rank {} ({}), which expects {} ({})", what, src_rank,
                       describe(sent), dst_rank, sent.where, describe(expected), expected.where);
  }
  return fmt::format("{} mismatch in {}: rank {} has {} ({}), rank {} has {} ({})", what, sent.operation, src_rank,
                     describe(sent), sent.where, dst_rank, describe(expected), expected.where);
}

}  // namespace lab
