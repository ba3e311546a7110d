#include "common/tensor/exact_data.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

const std::vector<std::int64_t> kFunctionShape = {2, 3, 5};
constexpr std::int64_t kFunctionValues = 30;

enum class OnRanks { kSame, kDifferent };

at::Tensor exact_tensor(OnRanks ranks, at::ScalarType dtype, std::uint64_t seed, int rank) {
  return exact_values_for_rank(kFunctionShape, dtype, seed, ranks == OnRanks::kSame ? 0 : rank);
}

at::Tensor exact_sum(OnRanks ranks, at::ScalarType dtype, std::uint64_t seed, int size) {
  at::Tensor sum = at::zeros(kFunctionShape, dtype);
  for (int rank = 0; rank < size; ++rank) sum += exact_tensor(ranks, dtype, seed, rank);
  return sum;
}

enum class Meaning { kIdentity, kSum };

struct FunctionUnderTest {
  std::string task, name;
  OnRanks x, grad_out;
  Meaning forward, backward;
  at::ScalarType dtype = at::kDouble;
};

Case function_case(const FunctionUnderTest& function) {
  Case result;
  result.task = function.task;
  result.name = result.prefix = function.name;
  result.tolerance.rtol = result.tolerance.atol = 0;
  const auto x_at = [=](const CasePlace& place) {
    return exact_tensor(function.x, function.dtype, place.seed, place.rank);
  };
  const auto grad_out_at = [=](const CasePlace& place) {
    return exact_tensor(function.grad_out, function.dtype, place.seed + 1, place.rank);
  };
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", x_at(place)}, {"input.grad_out", grad_out_at(place)}};
    return inputs;
  };
  result.expected = [=](const CasePlace& place) {
    const bool sums_forward = function.forward == Meaning::kSum, sums_backward = function.backward == Meaning::kSum;
    return TensorMap{
        {"out", sums_forward ? exact_sum(function.x, function.dtype, place.seed, place.size) : x_at(place)},
        {"x.grad",
         sums_backward ? exact_sum(function.grad_out, function.dtype, place.seed + 1, place.size) : grad_out_at(place)},
        // The function must not modify either.
        {"x", x_at(place)},
        {"grad_out", grad_out_at(place)}};
  };
  result.bounds = [=](const CasePlace& place) {
    Traffic traffic;
    for (const Meaning meaning : {function.forward, function.backward}) {
      if (meaning == Meaning::kSum) traffic.all_reduces.push_back(kFunctionValues);
    }
    return exactly(function.task, traffic, place.size, function.dtype);
  };
  return result;
}

const std::vector<FunctionUnderTest>& functions() {
  static const std::vector<FunctionUnderTest> all = {
      {"optC.copy_to_region", "CopyToRegion", OnRanks::kSame, OnRanks::kDifferent, Meaning::kIdentity, Meaning::kSum},
      {"optC.reduce_from_region", "ReduceFromRegion", OnRanks::kDifferent, OnRanks::kSame, Meaning::kSum,
       Meaning::kIdentity},
      {"optC.reduce_within_region", "ReduceWithinRegion", OnRanks::kDifferent, OnRanks::kDifferent, Meaning::kSum,
       Meaning::kSum}};
  return all;
}

}  // namespace

std::vector<Case> function_cases() {
  std::vector<Case> cases;
  for (const FunctionUnderTest& function : functions()) cases.push_back(function_case(function));
  return cases;
}

std::vector<Case> function_dtype_cases() {
  std::vector<Case> cases;
  for (FunctionUnderTest function : functions()) {
    const std::string name = function.name;
    for (const auto& [dtype, suffix] : {std::pair(at::kFloat, "Float32"), std::pair(at::kBFloat16, "Bfloat16")}) {
      function.dtype = dtype;
      function.name = name + suffix;
      cases.push_back(function_case(function));
    }
  }
  return cases;
}

}  // namespace lab::optc
