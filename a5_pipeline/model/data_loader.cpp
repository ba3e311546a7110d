#include "a5_pipeline/data_loader.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/tensor/seeded.h"

namespace lab::a5 {

DataLoader::DataLoader(const PipelineArguments& arguments) : arguments_(arguments) {}

DataLoader DataLoader::none(const PipelineArguments& arguments) {
  DataLoader loader(arguments);
  loader.refuses_ = true;
  return loader;
}

at::Tensor DataLoader::next() {
  return micro_batch(next_++);
}

at::Tensor DataLoader::micro_batch(std::int64_t i) const {
  if (refuses_) {
    throw ContractError(
        "the data loader was asked for a micro-batch by a stage that takes its input from the stage before; hint: "
        "requires_dataloader()");
  }
  if (i < 0 || i >= size())
    throw ContractError(fmt::format("the data loader was asked for micro-batch {}; it has 0 to {}", i, size() - 1));
  // Layers draw from the seed itself; micro-batches from another.
  const std::uint64_t seed = rank_seed(~arguments_.seed, i);
  return seeded_rand(arguments_.activation_shape(), seed, at::kFloat).to(arguments_.dtype);
}

}  // namespace lab::a5
