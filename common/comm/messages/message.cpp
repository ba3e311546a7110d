#include "common/comm/messages/message.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::comm {
namespace {

std::string describe(const Contract& contract) {
  return fmt::format("{} {}", dtype_name(contract.dtype), shape_text(contract.shape));
}

}  // namespace

Contract Message::contract() const {
  return {operation, tensor.scalar_type(), tensor.sizes().vec(), tag, where.text()};
}

PostedOpView Message::posted_op() const {
  const bool is_plain = operation == "message";
  const std::string_view sends_or_receives = direction == Direction::kSend ? "send" : "recv";
  const at::IntArrayRef sizes = tensor.sizes();
  return {*this,
          num_bytes(),
          is_plain ? sends_or_receives : operation,
          dtype_name(tensor.scalar_type()),
          sizes.data(),
          sizes.size(),
          where};
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

std::string contract_violation(int src_rank, const Message& sent, int dst_rank, const Message& expected) {
  // The two ends nearly always agree, and comparing them is a hundred times cheaper than describing them.
  if (sent.operation != expected.operation || sent.tensor.scalar_type() != expected.tensor.scalar_type() ||
      sent.tensor.sizes() != expected.tensor.sizes()) {
    return contract_violation(src_rank, sent.contract(), dst_rank, expected.contract());
  }
  if (sent.tensor.is_meta() == expected.tensor.is_meta()) return "";
  const auto kind = [](const Message& message) { return message.tensor.is_meta() ? "a meta tensor" : "data"; };
  return fmt::format("device mismatch: rank {} sends {} to rank {} ({}), which expects {} ({})", src_rank, kind(sent),
                     dst_rank, sent.where.text(), kind(expected), expected.where.text());
}

void require_defined(const at::Tensor& tensor, int rank, const std::string& action, SourceLine where) {
  if (tensor.defined()) return;
  throw ContractError(fmt::format(
      "{}: rank {} cannot {}: the tensor is undefined; hint: a receive needs one of the right shape and dtype, such as "
      "at::empty(...), and a gradient is undefined until backward() has reached it",
      where.text(), rank, action));
}

at::Tensor on_wire(const at::Tensor& tensor) {
  if (tensor.is_cpu() || tensor.is_meta()) return tensor.detach().contiguous().resolve_conj().resolve_neg();
  return staging_for(tensor, tensor.sizes()).copy_(tensor.detach());
}

at::Tensor staging_for(const at::Tensor& tensor, at::IntArrayRef shape) {
  const at::TensorOptions options =
      at::TensorOptions(tensor.scalar_type()).device(tensor.is_meta() ? at::kMeta : at::kCPU);
  return at::empty(shape, tensor.is_cuda() ? options.pinned_memory(true) : options);
}

}  // namespace lab::comm
