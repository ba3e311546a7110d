#include "optC_model_parallel/split_layers.h"

#include <limits>

#include "common/testing/message_of.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

std::vector<std::int64_t> sizes_of(const std::vector<Slice>& stages) {
  std::vector<std::int64_t> sizes;
  for (const Slice& stage : stages) sizes.push_back(stage.size);
  return sizes;
}

TEST_CASE("split_layers: the most expensive stage is as cheap as can be") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(sizes_of(split_layers({4, 1, 1, 1, 1}, 2)) == Sizes{1, 4});
  CHECK(sizes_of(split_layers({1, 1, 1, 1, 4}, 2)) == Sizes{4, 1});
  CHECK(sizes_of(split_layers({2, 2, 2, 2, 2, 2}, 3)) == Sizes{2, 2, 2});
  CHECK(sizes_of(split_layers({3, 1, 2}, 3)) == Sizes{1, 1, 1});
  CHECK(sizes_of(split_layers({7}, 1)) == Sizes{1});
}

TEST_CASE("split_layers: layers that cost nothing make stages, too") {
  for (const int num_stages : {1, 2, 3, 4, 5}) {
    const std::vector<Slice> stages = split_layers({0, 0, 5, 0, 0}, num_stages);
    CHECK(stages.size() == static_cast<std::size_t>(num_stages));
    for (const std::int64_t size : sizes_of(stages)) CHECK(size >= 1);
  }
}

TEST_CASE("split_layers: as many stages as layers at most, and at least one") {
  CHECK(testing::message_of([] {
          split_layers({1, 2, 3}, 4);
        }) == "split_layers: expected 1 to 3 stages for 3 layers, got 4; hint: every stage has a layer");
  CHECK(testing::message_of([] {
          split_layers({1, 2, 3}, 0);
        }) == "split_layers: expected 1 to 3 stages for 3 layers, got 0; hint: every stage has a layer");
}

/// The share of all work that a model's most expensive stage has.
double largest_share(const std::string& model, int num_stages) {
  const StagePlan plan = balanced_plan(model_named(model), num_stages, 1);
  double all = 0, largest = 0;
  for (int stage = 0; stage < num_stages; ++stage) {
    double cost = 0;
    for (const LayerSpec& layer : plan.layers(stage).layers) cost += layer.multiply_adds;
    all += cost;
    largest = std::max(largest, cost);
  }
  return largest / all;
}

TEST_CASE("split_layers: the model for measuring has stages that are equal but for its thin ends") {
  CHECK(largest_share("wide", 2) < 0.51);
  CHECK(largest_share("wide", 4) < 0.26);
}

}  // namespace
}  // namespace lab::optc
