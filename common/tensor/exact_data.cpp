#include "common/tensor/exact_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <list>
#include <numeric>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/tensor/mixing.h"

namespace lab {
namespace {

constexpr uint64_t kWideRange = 31;
constexpr uint64_t kNear = 8;  // the ranks and positions that are promised 64 numbers, where there are as many

/// One of `count` numbers, at most 2^32, by a multiplication: a division takes several times as long.
uint64_t drawn(uint64_t hash, uint64_t count) {
  return (hash >> 32) * count >> 32;
}

/// Draws the numbers from `begin` to `end` among themselves and those after them.
void shuffle(std::vector<uint32_t>& numbers, uint64_t begin, uint64_t end, uint64_t seed) {
  for (uint64_t i = begin; i < end; ++i)
    std::swap(numbers[i], numbers[i + drawn(splitmix64(seed + i), numbers.size() - i)]);
}

/// One block of a wide range: as many positions as there are values, in an order of its own on each rank.
/// A position has a place on a wheel of all values, drawn as the values are, and each rank turns the wheel one further.
/// So no rank repeats a value, no two ranks have the same value in a position, and one rank's values say nothing about
/// another's: only with both does one see which values are neighbours on the wheel.
class Wheel {
 public:
  /// Of `count` values; only the first `num_positions` positions may be asked for.
  Wheel(uint64_t count, uint64_t num_positions, uint64_t seed) : values_(count), places_(count) {
    std::iota(values_.begin(), values_.end(), 0);
    shuffle(values_, 0, count, splitmix64(seed));
    std::iota(places_.begin(), places_.end(), 0);
    uint64_t begin = 0;
    if (count >= kNear * kNear) {  // the first positions: every eighth place, so that eight ranks fill the gaps
      for (; begin < kNear; ++begin) std::swap(places_[begin], places_[begin * kNear]);
    }
    shuffle(places_, begin, num_positions, splitmix64(seed + 1));
  }

  /// `turn`    of the rank, less than there are values
  uint64_t value(uint64_t turn, uint64_t position) const {
    const uint64_t place = places_[position] + turn;
    return values_[place < values_.size() ? place : place - values_.size()];
  }

 private:
  std::vector<uint32_t> values_;
  std::vector<uint32_t> places_;
};

/// A wheel for each block of a tensor.
struct Wheels {
  uint64_t count, seed, num_values;
  std::vector<Wheel> of_blocks;

  Wheels(uint64_t count_, uint64_t seed_, uint64_t num_values_) : count(count_), seed(seed_), num_values(num_values_) {
    for (uint64_t begin = 0, block = 0; begin < num_values; begin += count, ++block)
      of_blocks.emplace_back(count, std::min(count, num_values - begin), splitmix64(splitmix64(seed) + block));
  }
};

/// The wheels of a tensor, which serve all ranks. A judge asks for one rank after the other, of a few tensors in turn.
const Wheels& find_wheels(uint64_t count, uint64_t seed, uint64_t num_values) {
  constexpr std::size_t kMostKept = 4;
  static thread_local std::list<Wheels> kept;
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Wheels& one) {
    return one.count == count && one.seed == seed && one.num_values == num_values;
  });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
  } else {
    kept.emplace_front(count, seed, num_values);
    if (kept.size() > kMostKept) kept.pop_back();
  }
  return kept.front();
}

/// Fills some ranks' values of a wide range, block by block.
void draw_on_wheels(const std::vector<at::Tensor>& ranks, uint64_t count, uint64_t seed, uint64_t first_rank) {
  const auto num_values = static_cast<uint64_t>(ranks.front().numel());
  uint64_t begin = 0;
  for (const Wheel& wheel : find_wheels(count, seed, num_values).of_blocks) {
    const uint64_t length = std::min(count, num_values - begin);
    for (std::size_t index = 0; index < ranks.size(); ++index) {
      int64_t* const values = ranks[index].data_ptr<int64_t>() + begin;
      const uint64_t turn = (first_rank + index) % count;
      for (uint64_t i = 0; i < length; ++i) values[i] = static_cast<int64_t>(wheel.value(turn, i));
    }
    begin += length;
  }
}

/// Narrow ranges have too few values for ranks to differ everywhere: every value is a hash.
void draw_hashes(const std::vector<at::Tensor>& ranks, uint64_t count, uint64_t seed, uint64_t first_rank) {
  for (std::size_t index = 0; index < ranks.size(); ++index) {
    const uint64_t start = splitmix64(splitmix64(seed) + first_rank + index);
    int64_t* const values = ranks[index].data_ptr<int64_t>();
    for (int64_t i = 0; i < ranks[index].numel(); ++i)
      values[i] = static_cast<int64_t>(drawn(splitmix64(start + static_cast<uint64_t>(i)), count));
  }
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

std::vector<at::Tensor> exact_values_of_ranks(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed,
                                              int64_t first_rank, int64_t num_ranks) {
  if (first_rank < 0) throw ContractError(fmt::format("A rank's values need a rank of 0 or more, got {}.", first_rank));
  if (num_ranks < 1) throw ContractError(fmt::format("Values need 1 or more ranks, got {}.", num_ranks));
  const ExactRange range = exact_range(dtype);
  const auto count = static_cast<uint64_t>(range.highest - range.lowest + 1);
  std::vector<at::Tensor> ranks;
  for (int64_t i = 0; i < num_ranks; ++i) ranks.push_back(at::empty(sizes, at::kLong));
  const auto draw = count >= kWideRange ? draw_on_wheels : draw_hashes;
  draw(ranks, count, seed, static_cast<uint64_t>(first_rank));
  for (at::Tensor& values : ranks) values = values.add_(range.lowest).to(dtype);
  return ranks;
}

at::Tensor exact_values_for_rank(at::IntArrayRef sizes, at::ScalarType dtype, uint64_t seed, int64_t rank) {
  return exact_values_of_ranks(sizes, dtype, seed, rank, 1).front();
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
