#include "a5_pipeline/cases/comparison_trials.h"

#include <limits>

#include "common/tensor/seeded.h"

namespace lab::a5 {
namespace {

constexpr double kRounding = 1e-7;  ///< within float32's tolerance, and not 0
constexpr double kWrong = 1e-3;     ///< far beyond it

/// Three micro-batches of outputs, of this size.
std::vector<at::Tensor> outputs_of(std::uint64_t seed, double size) {
  std::vector<at::Tensor> outputs;
  for (std::uint64_t i = 0; i < 3; ++i) outputs.push_back(seeded_randn({2, 3, 8}, seed + i) * size);
  return outputs;
}

/// With one of them off by this fraction.
std::vector<at::Tensor> with_one_off(std::vector<at::Tensor> outputs, std::size_t which, double part) {
  outputs[which] = outputs[which] * (1 + part);
  return outputs;
}

}  // namespace

std::vector<JudgedOutputs> outputs_trials(std::uint64_t seed) {
  const std::vector<at::Tensor> right = outputs_of(seed, 1), tiny = outputs_of(seed, 1e-7);
  const std::vector<at::Tensor> zeros(3, at::zeros({2, 3, 8}));
  std::vector<at::Tensor> with_nan = right;
  with_nan[1] = with_nan[1].clone();
  with_nan[1].view(-1).narrow(0, 5, 1).fill_(std::numeric_limits<double>::quiet_NaN());
  return {{"the same", {right, right}, 1},
          {"the same but for rounding", {with_one_off(right, 1, kRounding), right}, 1},
          {"the last micro-batch off", {with_one_off(right, 2, kWrong), right}, 0},
          {"the first micro-batch off", {with_one_off(right, 0, kWrong), right}, 0},
          {"two micro-batches exchanged", {{right[1], right[0], right[2]}, right}, 0},
          {"one micro-batch missing", {{right[0], right[1]}, right}, 0},
          {"a NaN", {with_nan, right}, 0},
          {"a NaN on both sides", {with_nan, with_nan}, 0},
          {"tiny values, the same", {tiny, tiny}, 1},
          {"tiny values, nothing right", {{tiny[2], tiny[0], tiny[1]}, tiny}, 0},
          {"zeros on both sides", {zeros, zeros}, 0},
          {"a rank that has none", {{}, right, 1, 4}, -1},
          {"the only rank", {right, right, 0, 1}, 1}};
}

std::vector<JudgedGradients> gradients_trials(std::uint64_t seed) {
  // The gradients of a real model are small, so these are too.
  TensorMap whole;
  std::uint64_t offset = 100;
  for (const char* layer : {"layer0", "layer1", "layer2", "layer3"}) {
    for (const char* weight : {".fc1", ".fc2"})
      whole[std::string(layer) + weight] = seeded_randn({6, 4}, seed + offset++) * 1e-6;
  }
  const TensorMap stage = {{"layer2.fc1", whole["layer2.fc1"]},
                           {"layer2.fc2", whole["layer2.fc2"]},
                           {"layer3.fc1", whole["layer3.fc1"]},
                           {"layer3.fc2", whole["layer3.fc2"]}};
  const auto changed = [&](const std::string& name, const at::Tensor& gradient) {
    TensorMap gradients = stage;
    gradients[name] = gradient;
    return gradients;
  };
  const auto verdicts = [](std::int64_t fc1_2, std::int64_t fc2_2, std::int64_t fc1_3, std::int64_t fc2_3) {
    return std::map<std::string, std::int64_t>{
        {"layer2.fc1", fc1_2}, {"layer2.fc2", fc2_2}, {"layer3.fc1", fc1_3}, {"layer3.fc2", fc2_3}};
  };
  TensorMap silent = whole;
  silent["layer2.fc2"] = at::zeros({6, 4});
  return {{"the same", {stage, whole}, verdicts(1, 1, 1, 1)},
          {"rounding", {changed("layer2.fc1", stage.at("layer2.fc1") * (1 + kRounding)), whole}, verdicts(1, 1, 1, 1)},
          {"not the last layer's", {changed("layer2.fc1", stage.at("layer2.fc1") * 2), whole}, verdicts(0, 1, 1, 1)},
          {"divided by m", {changed("layer3.fc2", stage.at("layer3.fc2") / 8), whole}, verdicts(1, 1, 1, 0)},
          {"all zero", {changed("layer2.fc2", at::zeros({6, 4})), whole}, verdicts(1, 0, 1, 1)},
          {"never arrived", {changed("layer3.fc1", at::Tensor()), whole}, verdicts(1, 1, 0, 1)},
          {"zero on both sides", {changed("layer2.fc2", at::zeros({6, 4})), silent}, verdicts(1, 0, 1, 1)}};
}

}  // namespace lab::a5
