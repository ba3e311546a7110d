#include "optC_model_parallel/model/parallel/stage_plan.h"

#include <fmt/format.h>

#include <string>

#include "common/api/errors.h"
#include "optC_model_parallel/split_layers.h"

namespace lab::optc {

const std::vector<std::int64_t>& StagePlan::out_shape(int stage) const {
  const std::int64_t last_layer = stages[static_cast<std::size_t>(stage)].end() - 1;
  return model.layers[static_cast<std::size_t>(last_layer)].out_shape;
}

StagePlan balanced_plan(const ModelSpec& model, int num_ranks, int num_chunks) {
  std::vector<double> costs;
  for (const LayerSpec& layer : model.layers) costs.push_back(layer.multiply_adds);
  StagePlan plan{model, split_layers(costs, num_ranks * num_chunks), num_ranks};
  const auto num_layers = static_cast<std::int64_t>(costs.size());
  std::int64_t layer = 0;
  bool in_order = plan.num_stages() == num_ranks * num_chunks;
  std::string got;
  for (const Slice& stage : plan.stages) {
    in_order = in_order && stage.begin == layer && stage.size >= 1;
    layer = stage.end();
    got += fmt::format(" [{}, {})", stage.begin, stage.end());
  }
  if (in_order && layer == num_layers) return plan;
  throw ContractError(fmt::format("split_layers: expected {} stages that have each of {} layers once, in order, got{}",
                                  num_ranks * num_chunks, num_layers, got));
}

ModelSpec layers_of_rank(const StagePlan& plan, int rank) {
  ModelSpec all{plan.model.name, {}};
  for (int chunk = 0; chunk < plan.num_chunks(); ++chunk) {
    for (LayerSpec& layer : plan.layers(plan.numbers().find_stage(rank, chunk)).layers)
      all.layers.push_back(std::move(layer));
  }
  return all;
}

std::vector<Parameters> by_chunk(const StagePlan& plan, int rank, const Parameters& of_rank) {
  std::vector<Parameters> chunks;
  auto begin = of_rank.layers.begin();
  for (int chunk = 0; chunk < plan.num_chunks(); ++chunk) {
    const auto end = begin + plan.stages[static_cast<std::size_t>(plan.numbers().find_stage(rank, chunk))].size;
    chunks.push_back({{begin, end}});
    begin = end;
  }
  return chunks;
}

}  // namespace lab::optc
