#include "common/api/partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/api/errors.h"

namespace lab {
namespace {

void require_total_and_parts(int64_t total, int64_t parts, std::string_view what) {
  if (total < 0) throw ContractError(fmt::format("The {} must not be negative, got {}.", what, total));
  if (parts < 1) throw ContractError(fmt::format("The {} must be shared by at least 1 part, got {}.", what, parts));
}

void require_index(int64_t index, int64_t parts, std::string_view what) {
  if (index >= 0 && index < parts) return;
  throw ContractError(fmt::format("The {} is shared by {} parts, numbered 0 to {}: there is no part {}.", what, parts,
                                  parts - 1, index));
}

}  // namespace

Slice even_slice(int64_t total, int64_t parts, int64_t index, std::string_view what) {
  require_total_and_parts(total, parts, what);
  require_index(index, parts, what);
  if (total % parts != 0) {
    throw ContractError(
        fmt::format("The {} {} does not divide into {} equal parts ({} left over): choose a multiple of {}.", what,
                    total, parts, total % parts, parts));
  }
  const int64_t size = total / parts;
  return {index * size, size};
}

Slice uneven_slice(int64_t total, int64_t parts, int64_t index, std::string_view what) {
  require_total_and_parts(total, parts, what);
  require_index(index, parts, what);
  const int64_t left_over = total % parts;
  const int64_t size = total / parts;
  return {index * size + std::min(index, left_over), size + (index < left_over ? 1 : 0)};
}

std::vector<int64_t> uneven_sizes(int64_t total, int64_t parts, std::string_view what) {
  require_total_and_parts(total, parts, what);
  std::vector<int64_t> sizes(static_cast<size_t>(parts), total / parts);
  std::fill_n(sizes.begin(), total % parts, total / parts + 1);
  return sizes;
}

}  // namespace lab
