#include "common/tensor/exact_data.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

enum class OnRanks { kSame, kDifferent };

enum class Meaning { kIdentity, kSum };

using Shapes = std::vector<std::vector<std::int64_t>>;

struct FunctionUnderTest {
  std::string task, name;
  OnRanks x, grad_out;
  Meaning forward, backward;
  at::ScalarType dtype = at::kDouble;
  Shapes shapes = {{2, 3, 5}};  ///< it is called for each, then goes backward from all
  bool strided = false;         ///< with tensors that are not contiguous
};

/// x, grad_out, and what the function makes of them, each with the prefix that its call has.
TensorMap list_tensors(const FunctionUnderTest& function, const CasePlace& place) {
  TensorMap all;
  for (std::size_t i = 0; i < function.shapes.size(); ++i) {
    const std::string prefix = function.shapes.size() == 1 ? "" : i == 0 ? "first." : i == 1 ? "second." : "third.";
    const auto add = [&](const std::string& given, OnRanks ranks, const std::string& made, Meaning meaning,
                         std::uint64_t seed) {
      const auto at_rank = [&](int rank) {
        return exact_values_for_rank(function.shapes[i], function.dtype, seed, ranks == OnRanks::kSame ? 0 : rank);
      };
      at::Tensor sum = at::zeros(function.shapes[i], function.dtype);
      for (int rank = 0; rank < place.size; ++rank) sum += at_rank(rank);
      all[prefix + given] = at_rank(place.rank);
      all[prefix + made] = meaning == Meaning::kSum ? sum : at_rank(place.rank);
    };
    const std::uint64_t seed = place.seed + 10 * i;
    add("x", function.x, "out", function.forward, seed);
    add("grad_out", function.grad_out, "x.grad", function.backward, seed + 1);
  }
  return all;
}

Case function_case(const FunctionUnderTest& function) {
  Case result;
  result.task = function.task;
  result.name = result.prefix = function.name;
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    for (const auto& [name, tensor] : list_tensors(function, place)) {
      const std::string last = name.substr(name.find('.') + 1);
      if (last == "x" || last == "grad_out") inputs.tensors["input." + name] = tensor;
    }
    if (function.strided) inputs.numbers["strided"] = 1;
    return inputs;
  };
  // The function must modify neither x nor grad_out.
  result.expected = [=](const CasePlace& place) { return list_tensors(function, place); };
  result.bounds = [=](const CasePlace& place) {
    Traffic traffic;
    for (const Meaning meaning : {function.forward, function.backward}) {
      for (const std::vector<std::int64_t>& shape : function.shapes)
        if (meaning == Meaning::kSum) traffic.all_reduces.push_back(c10::multiply_integers(shape));
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
    function.name = name + "Float32";
    function.dtype = at::kFloat;
    function.shapes = {{2, 3, 5}, {2, 3, 5}, {6}};
    cases.push_back(function_case(function));
    function.name = name + "Bfloat16";
    function.dtype = at::kBFloat16;
    function.shapes = {{2, 3, 5}, {4, 3}, {7}};
    function.strided = true;
    cases.push_back(function_case(function));
  }
  return cases;
}

}  // namespace lab::optc
