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
  if (pp_rank != pp_size - 1) {
    return std::nullopt;
  }
  bool ok = outputs.size() == baseline.size();
  for (size_t i = 0; ok && i < outputs.size(); i++) {
    ok = same(outputs[i], baseline[i], tolerance);
  }
  return ok;
}

std::map<std::string, bool> gradients_match(const TensorMap& gradients, const TensorMap& baseline,
                                            const Tolerance& tolerance) {
  for (const auto& [name, gradient] : gradients) {
    if (baseline.count(name) == 0) throw ContractError(fmt::format("the baseline has no gradient of {}", name));
  }
  std::map<std::string, bool> result;
  for (const auto& entry : gradients) {
    result[entry.first] = same(entry.second, baseline.at(entry.first), tolerance);
  }
  return result;
}

}  // namespace lab::a5
