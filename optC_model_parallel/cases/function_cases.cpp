#include "common/tensor/exact_data.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

/// The sum within a region of x of each shape, different on every rank, backward from all at the end: tensors of
/// integers, whose sums are exact. `strided`: none is contiguous.
Case function_case(const std::string& suffix, at::ScalarType dtype, const Shapes& shapes, bool strided = false) {
  Case result;
  result.task = "optC.reduce_within_region";
  result.name = result.prefix = "ReduceWithinRegion" + suffix;
  result.tolerance.rtol = result.tolerance.atol = 0;
  // What is given, and what the function makes of that. It must modify neither x nor grad_out.
  const auto draw = [=](const CasePlace& place, bool with_results) {
    TensorMap all;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::string prefix = shapes.size() == 1 ? "" : i == 0 ? "first." : i == 1 ? "second." : "third.";
      const auto add = [&](const std::string& given, const std::string& made, std::uint64_t seed) {
        const std::vector<at::Tensor> ranks = exact_values_of_ranks(shapes[i], dtype, seed, 0, place.size);
        all[prefix + given] = ranks[static_cast<std::size_t>(place.rank)];
        if (with_results) all[prefix + made] = at::stack(ranks).sum(0, false, dtype);
      };
      add("x", "out", place.seed + 10 * i);
      add("grad_out", "x.grad", place.seed + 10 * i + 1);
    }
    return all;
  };
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    for (const auto& [name, tensor] : draw(place, false)) inputs.tensors["input." + name] = tensor;
    if (strided) inputs.numbers["strided"] = 1;
    return inputs;
  };
  result.expected = [=](const CasePlace& place) { return draw(place, true); };
  result.bounds = [=](const CasePlace& place) {
    Traffic traffic;
    for (const std::vector<std::int64_t>& shape : shapes)
      traffic.all_reduces.insert(traffic.all_reduces.end(), 2, c10::multiply_integers(shape));
    return tensor_bounds("optC.reduce_within_region", traffic, place.size, dtype, true);
  };
  return result;
}

}  // namespace

std::vector<Case> function_cases() {
  return {function_case("", at::kDouble, {{2, 3, 5}})};
}

std::vector<Case> function_dtype_cases() {
  return {function_case("Float32", at::kFloat, {{2, 3, 5}, {2, 3, 5}, {6}}),
          function_case("Bfloat16", at::kBFloat16, {{2, 3, 5}, {4, 3}, {7}}, true)};
}

}  // namespace lab::optc
