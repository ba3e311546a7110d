#include "vae_sequence_parallel/conv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/api/errors.h"

namespace lab::vae {
namespace {

void check(std::int64_t total, const Conv2dOptions& options) {
  if (options.kernel < 1 || options.kernel % 2 == 0 || options.stride < 1 || options.padding < 0) {
    throw ContractError(fmt::format(
        "conv_columns: expected an odd kernel, a stride of at least 1 and a padding of at least 0, got {}, {} and {}",
        options.kernel, options.stride, options.padding));
  }
  if (total < 1 || total + 2 * options.padding < options.kernel) {
    throw ContractError(
        fmt::format("conv_columns: expected a picture of at least {} columns with {} of padding, got {}",
                    std::max(std::int64_t{1}, options.kernel - 2 * options.padding), 2 * options.padding, total));
  }
}

/// The number of output columns whose centre lies before this input column.
std::int64_t num_outputs_before(std::int64_t column, std::int64_t total, const Conv2dOptions& options) {
  const std::int64_t num_outputs = (total + 2 * options.padding - options.kernel) / options.stride + 1;
  if (column <= 0) return 0;
  if (column >= total) return num_outputs;
  const std::int64_t first_centre = options.kernel / 2 - options.padding;
  if (column <= first_centre) return 0;
  return std::min(num_outputs, (column - first_centre + options.stride - 1) / options.stride);
}

}  // namespace

std::vector<ConvColumns> conv_columns(const std::vector<std::int64_t>& widths, const Conv2dOptions& options) {
  const std::int64_t total = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  check(total, options);
  std::vector<ConvColumns> columns;
  std::int64_t begin = 0;
  for (const std::int64_t width : widths) {
    ConvColumns each;
    each.own = {begin, width};
    each.output.begin = num_outputs_before(begin, total, options);
    each.output.size = num_outputs_before(begin + width, total, options) - each.output.begin;
    each.needed.begin = each.output.begin * options.stride - options.padding;
    if (each.output.size > 0) each.needed.size = (each.output.size - 1) * options.stride + options.kernel;
    columns.push_back(each);
    begin += width;
  }
  return columns;
}

Slice overlap(const Slice& left, const Slice& right) {
  const std::int64_t begin = std::max(left.begin, right.begin);
  return {begin, std::max(std::int64_t{0}, std::min(left.end(), right.end()) - begin)};
}

}  // namespace lab::vae
