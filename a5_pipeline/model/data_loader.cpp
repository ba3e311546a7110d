#include "a5_pipeline/data_loader.h"

#include <fmt/format.h>

#include "a5_pipeline/model/draws.h"
#include "common/api/errors.h"

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
  return draw_micro_batch(arguments_, i);
}

}  // namespace lab::a5
