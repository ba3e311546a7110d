#include "optC_model_parallel/split_layers.h"

#include <limits>

#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::optc {
namespace {

std::vector<std::int64_t> list_sizes(const std::vector<Slice>& stages) {
  std::vector<std::int64_t> sizes;
  for (const Slice& stage : stages) sizes.push_back(stage.size);
  return sizes;
}

TEST_CASE("split_layers: the most expensive stage is as cheap as can be") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(list_sizes(split_layers({4, 1, 1, 1, 1}, 2)) == Sizes{1, 4});
  CHECK(list_sizes(split_layers({1, 1, 1, 1, 4}, 2)) == Sizes{4, 1});
  CHECK(list_sizes(split_layers({2, 2, 2, 2, 2, 2}, 3)) == Sizes{2, 2, 2});
  CHECK(list_sizes(split_layers({3, 1, 2}, 3)) == Sizes{1, 1, 1});
  CHECK(list_sizes(split_layers({7}, 1)) == Sizes{1});
}

TEST_CASE("split_layers: layers that cost nothing make stages, too") {
  for (const int num_stages : {1, 2, 3, 4, 5}) {
    const std::vector<Slice> stages = split_layers({0, 0, 5, 0, 0}, num_stages);
    CHECK(stages.size() == static_cast<std::size_t>(num_stages));
    for (const std::int64_t size : list_sizes(stages)) CHECK(size >= 1);
  }
}

TEST_CASE("split_layers: as many stages as layers at most, and at least one") {
  CHECK(testing::get_message([] {
          split_layers({1, 2, 3}, 4);
        }) == "split_layers: expected 1 to 3 stages for 3 layers, got 4; hint: every stage has a layer");
  CHECK(testing::get_message([] {
          split_layers({1, 2, 3}, 0);
        }) == "split_layers: expected 1 to 3 stages for 3 layers, got 0; hint: every stage has a layer");
}

}  // namespace
}  // namespace lab::optc
