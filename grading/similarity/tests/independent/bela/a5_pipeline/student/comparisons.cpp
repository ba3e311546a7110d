#include "a5_pipeline/comparisons.h"

#include "common/api/compare.h"

namespace lab::a5 {
namespace {

/// What both comparisons do with two tensors.
bool same(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance) {
  if (!actual.defined() || !expected.defined()) return false;
  if (expected.norm().item<double>() == 0) return false;
  return compare(actual, expected, tolerance).close;
}

}  // namespace

std::optional<bool> outputs_match(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& baseline,
                                  const Tolerance& tolerance, int pp_rank, int pp_size) {
  if (pp_rank + 1 < pp_size) return {};
  if (outputs.size() != baseline.size()) return false;
  bool all = true;
  for (std::size_t k = 0; k < outputs.size(); ++k) all &= same(outputs.at(k), baseline.at(k), tolerance);
  return all;
}

std::map<std::string, bool> gradients_match(const TensorMap& gradients, const TensorMap& baseline,
                                            const Tolerance& tolerance) {
  for (const auto& [name, gradient] : gradients) {
    if (baseline.count(name) == 0) throw ContractError(fmt::format("the baseline has no gradient of {}", name));
  }
  std::map<std::string, bool> verdict;
  for (const auto& [key, value] : gradients) verdict.emplace(key, same(value, baseline.at(key), tolerance));
  return verdict;
}

}  // namespace lab::a5
