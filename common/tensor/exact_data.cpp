#include "common/tensor/exact_data.h"

#include <fmt/format.h>

#include <limits>

#include "common/base/errors.h"
#include "common/tensor/describe.h"
#include "common/tensor/mixing.h"

namespace lab {
namespace {

constexpr uint64_t kWideRange = 31;
constexpr uint64_t kRankStride = 3;
constexpr uint64_t kBlockStride = 7;
constexpr uint64_t kFirstSlope = 8 * kRankStride;  // 8 ranks x 8 positions = 64 numbers, as long as there are as many

/// Wide ranges: a straight line in position and rank, which repeats no value among neighbours, with a new start and
/// slope after every `count` positions, so that no two chunks agree. `count` is prime, so every slope visits all
/// values.
uint64_t line_value(uint64_t count, uint64_t seed, uint64_t rank, uint64_t position) {
  const uint64_t block = position / count;
  const uint64_t start = splitmix64(seed) % count + kBlockStride * (block % count);
  const uint64_t slope = block == 0 ? kFirstSlope : 1 + splitmix64(splitmix64(seed) + block) % (count - 1);
  return (start + slope * (position % count) + kRankStride * (rank % count)) % count;
}

/// Narrow ranges: on a line the sum over 3 or 5 ranks would be the same everywhere, so every value is a hash.
uint64_t hashed_value(uint64_t count, uint64_t seed, uint64_t rank, uint64_t position) {
  return (splitmix64(splitmix64(splitmix64(seed) + rank) + position) >> 8) % count;
}

}  // namespace

ExactRange exact_range(at::ScalarType dtype) {
  switch (dtype) {
    case at::kDouble:
    case at::kLong: return {-4095, 4095, int64_t{1} << 41, int64_t{1} << 29};
    case at::kFloat:
    case at::kInt: return {-63, 63, 266305, 4227};
    case at::kHalf: return {-2, 2, 1024, 512};
    case at::kBFloat16: return {-1, 1, 256, 256};
    case at::kShort: return {-15, 15, 2184, 145};
    case at::kChar: return {-15, 15, 8, 0};
    case at::kByte: return {0, 30, 8, 0};
    case at::kBool: return {0, 1, 1, 1};
    default: throw ContractError(fmt::format("There are no exact values of dtype {}.", dtype_name(dtype)));
  }
}

at::Tensor exact_values_for_rank(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed, int64_t rank) {
  if (rank < 0) throw ContractError(fmt::format("A rank's values need a rank of 0 or more, got {}.", rank));
  const ExactRange range = exact_range(dtype);
  const auto count = static_cast<uint64_t>(range.highest - range.lowest + 1);
  const auto value = count >= kWideRange ? line_value : hashed_value;
  at::Tensor values = at::empty(sizes, at::kLong);
  int64_t* data = values.data_ptr<int64_t>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const uint64_t drawn = value(count, seed, static_cast<uint64_t>(rank), static_cast<uint64_t>(i));
    data[i] = range.lowest + static_cast<int64_t>(drawn);
  }
  return values.to(dtype);
}

at::Tensor exact_values(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed) {
  return exact_values_for_rank(sizes, dtype, seed, 0);
}

at::Tensor poison_(at::Tensor tensor) {
  at::Tensor values = tensor.detach();
  switch (values.scalar_type()) {
    case at::kChar: values.fill_(std::numeric_limits<int8_t>::lowest()); break;
    case at::kShort: values.fill_(std::numeric_limits<int16_t>::lowest()); break;
    case at::kInt: values.fill_(std::numeric_limits<int32_t>::lowest()); break;
    case at::kLong: values.fill_(std::numeric_limits<int64_t>::lowest()); break;
    case at::kByte: values.fill_(std::numeric_limits<uint8_t>::max()); break;
    case at::kBool: values.fill_(true); break;
    default: values.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  return tensor;
}

at::Tensor only_part(const at::Tensor& whole, int64_t dim, const Slice& part) {
  at::Tensor left = poison_(whole.detach().clone());
  left.narrow(dim, part.begin, part.size).copy_(whole.detach().narrow(dim, part.begin, part.size));
  return left;
}

}  // namespace lab
