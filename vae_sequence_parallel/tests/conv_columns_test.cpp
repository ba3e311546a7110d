#include "vae_sequence_parallel/conv_columns.h"

#include <algorithm>

#include "common/api/errors.h"
#include "common/testing/test.h"

// Every output column belongs to the rank that has its centre, and a rank needs the columns that its windows cover:
// checked by definition, column by column, for every small spread of columns over ranks.
namespace lab::vae {
namespace {

using WidthsOf = std::vector<std::int64_t>;

Conv2dOptions window(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {1, 1, kernel, stride, padding};
}

/// All ways to give each rank 0 to 3 columns.
std::vector<WidthsOf> all_widths(std::size_t num_ranks) {
  std::vector<WidthsOf> all = {{}};
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    std::vector<WidthsOf> longer;
    for (const WidthsOf& widths : all) {
      for (std::int64_t width = 0; width < 4; ++width) {
        longer.push_back(widths);
        longer.back().push_back(width);
      }
    }
    all = longer;
  }
  return all;
}

std::vector<std::size_t> list_owners(const WidthsOf& widths) {
  std::vector<std::size_t> owners;
  for (std::size_t rank = 0; rank < widths.size(); ++rank)
    owners.insert(owners.end(), static_cast<std::size_t>(widths[rank]), rank);
  return owners;
}

bool equal(const Slice& left, const Slice& right) {
  return left.begin == right.begin && left.size == right.size;
}

/// What is wrong; empty: nothing.
std::string fault(const WidthsOf& widths, const Conv2dOptions& options) {
  const std::vector<std::size_t> owners = list_owners(widths);
  const auto total = static_cast<std::int64_t>(owners.size());
  const std::vector<ConvColumns> columns = conv_columns(widths, options);
  std::vector<std::int64_t> num_outputs(widths.size(), 0);
  std::vector<Slice> windows(widths.size());
  for (std::int64_t first = -options.padding; first + options.kernel <= total + options.padding;
       first += options.stride) {
    const std::int64_t centre = std::clamp(first + options.kernel / 2, std::int64_t{0}, total - 1);
    const std::size_t owner = owners[static_cast<std::size_t>(centre)];
    if (num_outputs[owner]++ == 0) windows[owner].begin = first;
    windows[owner].size = first + options.kernel - windows[owner].begin;
  }
  Slice own, output;
  for (std::size_t rank = 0; rank < widths.size(); ++rank) {
    own = {own.end(), widths[rank]};
    output = {output.end(), num_outputs[rank]};
    if (!equal(columns[rank].own, own)) return "own";
    if (!equal(columns[rank].output, output)) return "output";
    if (columns[rank].needed.size != windows[rank].size) return "size of needed";
    if (output.size > 0 && columns[rank].needed.begin != windows[rank].begin) return "begin of needed";
  }
  return "";
}

TEST_CASE("conv_columns: every window belongs to the rank that has its centre") {
  for (std::size_t num_ranks = 1; num_ranks < 5; ++num_ranks) {
    for (const WidthsOf& widths : all_widths(num_ranks)) {
      const auto total = static_cast<std::int64_t>(list_owners(widths).size());
      for (const std::int64_t kernel : {1, 3, 5, 7}) {
        for (const std::int64_t stride : {1, 2, 3}) {
          for (const std::int64_t padding : {0, 1, 2, 3, 5}) {
            if (total == 0 || total + 2 * padding < kernel) continue;
            const std::string found = fault(widths, window(kernel, stride, padding));
            if (found.empty()) continue;
            CAPTURE(widths.size());
            CAPTURE(total);
            CAPTURE(kernel);
            CAPTURE(stride);
            CAPTURE(padding);
            FAIL_CHECK(found);
          }
        }
      }
    }
  }
}

TEST_CASE("conv_columns: the example of the header") {
  const std::vector<ConvColumns> columns = conv_columns({3, 2}, window(3, 1, 1));
  CHECK(equal(columns[0].own, {0, 3}));
  CHECK(equal(columns[0].output, {0, 3}));
  CHECK(equal(columns[0].needed, {-1, 5}));
  CHECK(equal(columns[1].own, {3, 2}));
  CHECK(equal(columns[1].output, {3, 2}));
  CHECK(equal(columns[1].needed, {2, 4}));
}

TEST_CASE("conv_columns: invalid arguments are refused") {
  CHECK_THROWS_WITH_AS(conv_columns({4}, window(2, 1, 1)), doctest::Contains("an odd kernel"), ContractError);
  CHECK_THROWS_AS(conv_columns({4}, window(-1, 1, 1)), ContractError);
  CHECK_THROWS_AS(conv_columns({4}, window(3, 0, 1)), ContractError);
  CHECK_THROWS_AS(conv_columns({4}, window(3, 1, -1)), ContractError);
  CHECK_THROWS_WITH_AS(conv_columns({2, 2}, window(7, 1, 1)),
                       doctest::Contains("at least 5 columns with 2 of padding, got 4"), ContractError);
  CHECK_THROWS_WITH_AS(conv_columns({0, 0}, window(3, 1, 2)), doctest::Contains("at least 1 column"), ContractError);
  CHECK_NOTHROW(conv_columns({2, 3}, window(7, 1, 1)));
}

TEST_CASE("overlap: what both have, of size 0 if nothing") {
  CHECK(equal(overlap({0, 5}, {3, 9}), {3, 2}));
  CHECK(equal(overlap({3, 9}, {0, 5}), {3, 2}));
  CHECK(equal(overlap({-2, 9}, {1, 2}), {1, 2}));
  CHECK(overlap({0, 3}, {3, 4}).size == 0);
  CHECK(overlap({5, 1}, {0, 2}).size == 0);
  CHECK(overlap({1, 0}, {0, 5}).size == 0);
}

}  // namespace
}  // namespace lab::vae
