#include "common/comm/relay/payload_tensor.h"

#include <fmt/format.h>

#include <memory>

#include "common/base/errors.h"

namespace lab::comm {

constexpr std::size_t kMaxDimensions = 64;  // LibTorch's own limit

std::uint64_t payload_bytes_of(int dtype, const std::vector<std::int64_t>& sizes) {
  if (dtype < 0 || dtype >= static_cast<int>(at::ScalarType::Undefined))
    throw ContractError(fmt::format("dtype {}", dtype));
  if (sizes.size() > kMaxDimensions) throw ContractError(fmt::format("{} dimensions", sizes.size()));
  std::uint64_t num_bytes = c10::elementSize(static_cast<at::ScalarType>(dtype));
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(num_bytes, static_cast<std::uint64_t>(size), &num_bytes))
      throw ContractError("a size that no tensor has");
  }
  return num_bytes;
}

at::Tensor payload_tensor(int dtype, const std::vector<std::int64_t>& sizes, std::string payload) {
  const std::uint64_t num_bytes = payload_bytes_of(dtype, sizes);
  if (payload.size() != num_bytes)
    throw ContractError(fmt::format("a payload of {} B for a tensor of {} B", payload.size(), num_bytes));
  const auto kept = std::make_shared<std::string>(std::move(payload));
  return at::from_blob(
      kept->data(), sizes, [kept](void*) {}, at::TensorOptions(static_cast<at::ScalarType>(dtype)));
}

}  // namespace lab::comm
