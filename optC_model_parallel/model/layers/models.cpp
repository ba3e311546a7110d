#include "optC_model_parallel/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/api/errors.h"
#include "optC_model_parallel/model/layers/pipeline_models.h"
#include "optC_model_parallel/model/layers/tensor_models.h"

namespace lab::optc {

const std::vector<std::string>& pipeline_model_names() {
  static const std::vector<std::string> names = {"tutorial", "deep"};
  return names;
}

const std::vector<std::string>& tensor_model_names() {
  static const std::vector<std::string> names = {"pair", "pair-norm", "vit", "resnet"};
  return names;
}

ModelSpec model_named(const std::string& name, const Blocks& blocks) {
  if (name == "tutorial") return tutorial_model();
  if (name == "deep") return deep_model();
  if (name == "pair") return pair_model(blocks);
  if (name == "pair-norm") return pair_norm_model(blocks);
  if (name == "vit") return vit_model(blocks);
  if (name == "resnet") return resnet_model(blocks);
  throw UsageError(fmt::format("model '{}': expected one of {} (pipeline) or {} (tensor)", name,
                               fmt::join(pipeline_model_names(), ", "), fmt::join(tensor_model_names(), ", ")));
}

}  // namespace lab::optc
