#include "common/tensor/safetensors_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "common/report/errors.h"
#include "common/tensor/describe.h"

namespace lab {
namespace {

constexpr size_t kMaxDims = 64;  // what LibTorch's element-wise operations can walk over

template <typename... Arguments>
[[noreturn]] void refuse(const std::string& path, const SafetensorsEntry& entry, fmt::format_string<Arguments...> text,
                         Arguments&&... arguments) {
  throw UsageError(fmt::format("'{}' is not a usable safetensors file: tensor {} {}.", path, quoted_name(entry.name),
                               fmt::format(text, std::forward<Arguments>(arguments)...)));
}

uint64_t expected_bytes(const SafetensorsEntry& entry, const std::string& path) {
  if (entry.shape.size() > kMaxDims) {
    refuse(path, entry, "has {} dimensions, expected at most {}", entry.shape.size(), kMaxDims);
  }
  // Sizes of 0 count as 1 at first: LibTorch computes strides that way, and those must not overflow either.
  const auto limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t bytes = c10::elementSize(entry.dtype);
  bool empty = false;
  for (const int64_t size : entry.shape) {
    empty = empty || size == 0;
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(size, 1));
    if (bytes > limit / factor) refuse(path, entry, "has shape {}: too large to address", shape_text(entry.shape));
    bytes *= factor;
  }
  return empty ? 0 : bytes;
}

void check_entry(const SafetensorsEntry& entry, uint64_t buffer_bytes, const std::string& path) {
  if (entry.begin_bytes > entry.end_bytes || entry.end_bytes > buffer_bytes) {
    refuse(path, entry, "lies at bytes {} to {}, expected within 0 to {}", entry.begin_bytes, entry.end_bytes,
           buffer_bytes);
  }
  const uint64_t expected = expected_bytes(entry, path);
  const uint64_t got = entry.end_bytes - entry.begin_bytes;
  if (got == expected) return;
  refuse(path, entry, "is {} {}: expected {} bytes, got {}", dtype_name(entry.dtype), shape_text(entry.shape), expected,
         got);
}

}  // namespace

void check_safetensors_layout(const SafetensorsHeader& header, uint64_t buffer_bytes, const std::string& path) {
  std::vector<const SafetensorsEntry*> in_order;
  for (const SafetensorsEntry& entry : header.entries) {
    check_entry(entry, buffer_bytes, path);
    in_order.push_back(&entry);
  }
  std::sort(in_order.begin(), in_order.end(), [](const SafetensorsEntry* left, const SafetensorsEntry* right) {
    return std::tie(left->begin_bytes, left->end_bytes) < std::tie(right->begin_bytes, right->end_bytes);
  });
  uint64_t covered_bytes = 0;
  for (const SafetensorsEntry* entry : in_order) {
    if (entry->begin_bytes != covered_bytes) {
      refuse(path, *entry, "begins at byte {}, expected {}: {}", entry->begin_bytes, covered_bytes,
             entry->begin_bytes < covered_bytes ? "it overlaps another tensor" : "there is a hole before it");
    }
    covered_bytes = entry->end_bytes;
  }
  if (covered_bytes == buffer_bytes) return;
  throw UsageError(fmt::format("'{}' is not a usable safetensors file: its tensors end at byte {}, expected {}.", path,
                               covered_bytes, buffer_bytes));
}

}  // namespace lab
