#include "common/checks/function_cases.h"

#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"

namespace lab {

at::Tensor FunctionData::of_rank(const CasePlace& place, std::uint64_t more, int rank) const {
  const std::uint64_t seed = place.seed + offset + more;
  return random ? seeded_randn(shape, derived_seed(seed, rank_seed(seed, rank)), dtype)
                : exact_values_for_rank(shape, dtype, seed, rank);
}

std::vector<at::Tensor> FunctionData::of_all(const CasePlace& place, std::uint64_t more) const {
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < place.size; ++rank) all.push_back(of_rank(place, more, rank));
  return all;
}

at::Tensor FunctionData::sum(const CasePlace& place, std::uint64_t more) const {
  return at::stack(of_all(place, more)).to(at::kDouble).sum(0).to(dtype);
}

at::Tensor FunctionData::same_everywhere(const CasePlace& place, std::uint64_t more, std::int64_t times) const {
  std::vector<std::int64_t> sizes = shape;
  sizes.back() *= times;
  const std::uint64_t seed = place.seed + offset + more;
  return random ? seeded_randn(sizes, seed, dtype) : exact_values(sizes, dtype, seed);
}

TensorMap broadcast_parallel_results(const FunctionData& data, const CasePlace& place) {
  const at::Tensor x = data.same_everywhere(place, 0);
  return {{"x", x}, {"grad_out", data.of_rank(place, 1, place.rank)}, {"out", x}, {"x.grad", data.sum(place, 1)}};
}

TensorMap reduce_parallel_results(const FunctionData& data, const CasePlace& place) {
  const at::Tensor grad_out = data.same_everywhere(place, 0);
  return {{"x", data.of_rank(place, 1, place.rank)},
          {"grad_out", grad_out},
          {"out", data.sum(place, 1)},
          {"x.grad", grad_out}};
}

Case function_case(const FunctionUnderTest& function, const std::string& suffix,
                   const std::vector<FunctionData>& all_data, bool strided) {
  const auto tensors = [=](const CasePlace& place) {
    TensorMap all;
    for (std::size_t i = 0; i < all_data.size(); ++i) {
      const std::string prefix = all_data.size() == 1 ? "" : i == 0 ? "first." : i == 1 ? "second." : "third.";
      for (const auto& [name, tensor] : function.results(all_data[i], place)) all[prefix + name] = tensor;
    }
    return all;
  };
  Case result;
  result.task = function.task;
  result.name = result.prefix = function.name + suffix;
  if (!all_data.front().random) result.tolerance = {0, 0};
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    for (const auto& [name, tensor] : tensors(place)) {
      const std::string last = name.substr(name.find('.') + 1);
      if (last == "x" || last == "grad_out") inputs.tensors["input." + name] = tensor;
    }
    if (strided) inputs.numbers["strided"] = 1;
    return inputs;
  };
  // The incoming gradient belongs to autograd, and x to the caller: both are expected as they were.
  result.expected = tensors;
  result.bounds = function.bounds(all_data);
  return result;
}

}  // namespace lab
