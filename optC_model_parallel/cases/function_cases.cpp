#include "common/checks/function_cases.h"

#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

/// A function that sums up `num_sums` times, forward and backward together.
FunctionUnderTest summing(const std::string& task, const std::string& name, std::size_t num_sums,
                          FunctionResults results) {
  return {task, name, std::move(results), [=](const std::vector<FunctionData>& all) -> CostBounds {
            return [=](const CasePlace& place) {
              Traffic traffic;
              for (const FunctionData& data : all)
                traffic.all_reduces.insert(traffic.all_reduces.end(), num_sums, c10::multiply_integers(data.shape));
              return tensor_bounds(task, traffic, place.size, all.front().dtype, true);
            };
          }};
}

const FunctionUnderTest kBroadcast =
                            summing("optC.broadcast_parallel", "BroadcastParallel", 1, broadcast_parallel_results),
                        kReduce = summing("optC.reduce_parallel", "ReduceParallel", 1, reduce_parallel_results),
                        kReduceWithin = summing("optC.reduce_within_region", "ReduceWithinRegion", 2,
                                                [](const FunctionData&data, const CasePlace&place) {
                                                  return TensorMap{{"x", data.of_rank(place, 0, place.rank)},
                                                                   {"grad_out", data.of_rank(place, 1, place.rank)},
                                                                   {"out", data.sum(place, 0)},
                                                                   {"x.grad", data.sum(place, 1)}};
                                                });

const FunctionData kDoubles = {{2, 3, 5}, false, 0, at::kDouble};

std::vector<FunctionData> each_of(const std::vector<std::vector<std::int64_t>>& shapes, at::ScalarType dtype) {
  std::vector<FunctionData> all;
  for (const std::vector<std::int64_t>& shape : shapes) all.push_back({shape, false, 10 * all.size(), dtype});
  return all;
}

}  // namespace

std::vector<Case> function_cases() {
  return {function_case(kReduceWithin, "", {kDoubles})};
}

std::vector<Case> unprinted_function_cases() {
  std::vector<Case> all = {function_case(kBroadcast, "", {kDoubles}), function_case(kReduce, "", {kDoubles})};
  for (const FunctionUnderTest& function : {kBroadcast, kReduce, kReduceWithin}) {
    all.push_back(function_case(function, "Float32", each_of({{2, 3, 5}, {2, 3, 5}, {6}}, at::kFloat)));
    all.push_back(function_case(function, "Bfloat16", each_of({{2, 3, 5}, {4, 3}, {7}}, at::kBFloat16), true));
  }
  return all;
}

}  // namespace lab::optc
