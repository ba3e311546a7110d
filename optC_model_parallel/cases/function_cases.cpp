#include "common/tensor/exact_data.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

const std::vector<std::int64_t> kFunctionShape = {2, 3, 5};
constexpr std::int64_t kFunctionValues = 30;

enum class OnRanks { kSame, kDifferent };

at::Tensor exact_tensor(OnRanks ranks, std::uint64_t seed, int rank) {
  return exact_values_for_rank(kFunctionShape, at::kDouble, seed, ranks == OnRanks::kSame ? 0 : rank);
}

at::Tensor exact_sum(OnRanks ranks, std::uint64_t seed, int size) {
  at::Tensor sum = at::zeros(kFunctionShape, at::kDouble);
  for (int rank = 0; rank < size; ++rank) sum += exact_tensor(ranks, seed, rank);
  return sum;
}

enum class Meaning { kIdentity, kSum };

struct FunctionUnderTest {
  std::string task, name;
  OnRanks x, grad_out;
  Meaning forward, backward;
};

Case function_case(const FunctionUnderTest& function) {
  Case result;
  result.task = function.task;
  result.name = result.prefix = function.name;
  result.inside_backward = true;
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", exact_tensor(function.x, place.seed, place.rank)},
                      {"input.grad_out", exact_tensor(function.grad_out, place.seed + 1, place.rank)}};
    return inputs;
  };
  result.expected = [=](const CasePlace& place) {
    const at::Tensor x = exact_tensor(function.x, place.seed, place.rank);
    const at::Tensor grad_out = exact_tensor(function.grad_out, place.seed + 1, place.rank);
    const bool sums_forward = function.forward == Meaning::kSum, sums_backward = function.backward == Meaning::kSum;
    return TensorMap{{"out", sums_forward ? exact_sum(function.x, place.seed, place.size) : x},
                     {"x.grad", sums_backward ? exact_sum(function.grad_out, place.seed + 1, place.size) : grad_out},
                     // The function must not modify either.
                     {"x", x},
                     {"grad_out", grad_out}};
  };
  result.bounds = [=](const CasePlace& place) {
    Traffic traffic;
    for (const Meaning meaning : {function.forward, function.backward}) {
      if (meaning == Meaning::kSum) traffic.all_reduces.push_back(kFunctionValues);
    }
    return exactly(function.task, traffic, place.size);
  };
  return result;
}

}  // namespace

std::vector<Case> function_cases() {
  return {function_case({"optC.copy_to_region", "CopyToRegion", OnRanks::kSame, OnRanks::kDifferent, Meaning::kIdentity,
                         Meaning::kSum}),
          function_case({"optC.reduce_from_region", "ReduceFromRegion", OnRanks::kDifferent, OnRanks::kSame,
                         Meaning::kSum, Meaning::kIdentity}),
          function_case({"optC.reduce_within_region", "ReduceWithinRegion", OnRanks::kDifferent, OnRanks::kDifferent,
                         Meaning::kSum, Meaning::kSum})};
}

}  // namespace lab::optc
