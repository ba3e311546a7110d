#include <limits>

#include "a4_data_tensor/cases/bounds.h"
#include "a4_data_tensor/cases/cases.h"
#include "common/api/partition.h"
#include "common/checks/function_cases.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"

namespace lab::a4 {
namespace {

/// Integers from -2 to 2: products of three matrices of these sizes stay exact in float32.
at::Tensor small(at::IntArrayRef shape, std::uint64_t seed) {
  return exact_values(shape, at::kHalf, seed).to(at::kFloat);
}

at::Tensor take_columns(const at::Tensor& tensor, const CasePlace& place) {
  const Slice slice = even_slice(tensor.size(-1), place.size, place.rank);
  return tensor.narrow(-1, slice.begin, slice.size).contiguous();
}

at::Tensor take_rows(const at::Tensor& tensor, const CasePlace& place) {
  const Slice slice = even_slice(tensor.size(0), place.size, place.rank);
  return tensor.narrow(0, slice.begin, slice.size).contiguous();
}

// What a judged rank is sent of a weight: a layer's constructor is given all of it and keeps this rank's part. The
// layer's input and the gradient of its output are every rank's.
void keep_columns(at::Tensor& weight, const CasePlace& place) {
  weight = only_part(weight, -1, uneven_slice(weight.size(-1), place.size, place.rank));
}

void keep_rows(at::Tensor& weight, const CasePlace& place) {
  weight = only_part(weight, 0, uneven_slice(weight.size(0), place.size, place.rank));
}

/// The tensors that the layer cases share. Every rank draws all of them; `grad_out` is the gradient that arrives at the
/// output.
struct LayerData {
  at::Tensor x, weight1, weight2, bias, grad_out;
};

/// Small integers, whose hidden values are odd, so that none is zero, where relu's gradient is a matter of taste. Or
/// random numbers of which no hidden value is near zero, where rounding would decide: the inputs are positive, and each
/// column of the first weight is of one sign.
LayerData layer_data(const SizesFor& sizes_for, const CasePlace& place) {
  const LabSizes sizes = sizes_for(place.size);
  const std::int64_t in = sizes.step.input_dim, out = sizes.step.output_dim, batch = sizes.layer_batch;
  const std::uint64_t seed = place.seed;
  if (sizes.random_layers) {
    const at::Tensor signs = seeded_rand({out}, seed + 5).ge(0.5).to(at::kFloat).mul(2).sub(1);
    return {seeded_rand({batch, in}, seed).add(0.1), seeded_rand({in, out}, seed + 1).add(0.1).mul(signs),
            seeded_randn({out, in}, seed + 2), seeded_randn({out}, seed + 3), seeded_randn({batch, out}, seed + 4)};
  }
  const at::Tensor x = 2 * small({batch, in}, seed), weight1 = small({in, out}, seed + 1);
  x.select(1, 0).fill_(1);
  weight1.select(0, 0).fill_(1);
  return {x, weight1, small({out, in}, seed + 2), small({out}, seed + 3), small({batch, out}, seed + 4)};
}

/// In float64, from which expected results are rounded once.
LayerData exact_data(const SizesFor& sizes_for, const CasePlace& place) {
  LayerData data = layer_data(sizes_for, place);
  for (at::Tensor* tensor : {&data.x, &data.weight1, &data.weight2, &data.bias, &data.grad_out})
    *tensor = tensor->to(at::kDouble);
  return data;
}

TensorMap rounded(TensorMap tensors) {
  for (auto& [name, tensor] : tensors) tensor = tensor.to(at::kFloat);
  return tensors;
}

/// A case on exact data: results must be bitwise equal.
Case exact_case(const std::string& task, const std::string& name) {
  Case result;
  result.task = task;
  result.name = name;
  result.prefix = name;
  result.tolerance = {0, 0};
  return result;
}

Case layer_case(const std::string& task, const std::string& name, const SizesFor& sizes_for) {
  Case result = exact_case(task, name);
  // By the norm: an element may be as small as what rounding leaves of its summands.
  if (sizes_for(1).random_layers) result.tolerance = {0, std::numeric_limits<double>::infinity(), 1e-5};
  return result;
}

CaseInputs layer_inputs(const LayerData& data, bool with_bias) {
  CaseInputs inputs;
  inputs.tensors = {{"input.x", data.x}, {"input.grad_out", data.grad_out}, {"weight.W", data.weight1}};
  if (with_bias) inputs.tensors["weight.bias"] = data.bias;
  return inputs;
}

Case column_case(const SizesFor& sizes_for, const std::string& name, bool with_bias) {
  Case result = layer_case("a4.column_parallel", name, sizes_for);
  result.inputs = [=](const CasePlace& place) { return layer_inputs(layer_data(sizes_for, place), with_bias); };
  result.keep_own_part = [with_bias](const CasePlace& place, TensorMap& inputs) {
    keep_columns(inputs.at("weight.W"), place);
    if (with_bias) keep_columns(inputs.at("weight.bias"), place);
  };
  result.expected = [=](const CasePlace& place) {
    const LayerData data = exact_data(sizes_for, place);
    const at::Tensor out = at::matmul(data.x, data.weight1);
    TensorMap expected = {{"out", with_bias ? out + data.bias : out},
                          {"x.grad", at::matmul(data.grad_out, data.weight1.t())},
                          {"W.grad", take_columns(at::matmul(data.x.t(), data.grad_out), place)},
                          // The layer must not modify either.
                          {"x", data.x},
                          {"W", take_columns(data.weight1, place)}};
    if (with_bias) {
      expected["bias.grad"] = take_columns(data.grad_out.sum(0), place);
      expected["bias"] = take_columns(data.bias, place);
    }
    return rounded(expected);
  };
  result.skip_reason = if_not_divided(sizes_for, &StepOptions::output_dim);
  result.bounds = column_layer_traffic(sizes_for);
  result.work = layer_work(sizes_for, 3);
  result.memory = layer_memory(sizes_for, 1);
  return result;
}

FunctionUnderTest with_bounds(const std::string& task, const std::string& name, FunctionResults results,
                              CostBounds (*bound)(const Shapes&)) {
  return {task, name, results, [bound](const std::vector<FunctionData>& all) {
            Shapes shapes;
            for (const FunctionData& data : all) {
              shapes.push_back(data.shape);
              if (data.dtype == at::kDouble) shapes.push_back(data.shape);  // twice the bytes
            }
            return bound(shapes);
          }};
}

TensorMap gather_results(const FunctionData& data, const CasePlace& place) {
  const at::Tensor grad_out = data.same_everywhere(place, 1, place.size);
  return {{"x", data.of_rank(place, 0, place.rank)},
          {"grad_out", grad_out},
          {"out", at::cat(data.of_all(place, 0), -1)},
          {"x.grad", take_columns(grad_out, place)}};
}

const FunctionUnderTest kBroadcast = with_bounds("a4.broadcast_parallel", "BroadcastParallel",
                                                 broadcast_parallel_results, sum_bounds),
                        kGather = with_bounds("a4.gather_parallel", "GatherParallel", gather_results, gather_bounds),
                        kReduce = with_bounds("a4.row_parallel", "ReduceParallel", reduce_parallel_results,
                                              all_reduce_bounds);

const FunctionData kSums = {{5, 3}}, kParts = {{2, 3, 4}};

Case row_case(const SizesFor& sizes_for, const std::string& name) {
  Case result = layer_case("a4.row_parallel", name, sizes_for);
  result.inputs = [=](const CasePlace& place) {
    const LayerData data = layer_data(sizes_for, place);
    CaseInputs inputs = layer_inputs(data, true);
    inputs.tensors["input.x_shard"] = take_columns(data.x, place);
    return inputs;
  };
  result.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    keep_rows(inputs.at("weight.W"), place);
    inputs.erase("input.x");  // of which x_shard is this rank's
  };
  result.expected = [=](const CasePlace& place) {
    const LayerData data = exact_data(sizes_for, place);
    return rounded({{"out", at::matmul(data.x, data.weight1) + data.bias},
                    {"x_shard.grad", take_columns(at::matmul(data.grad_out, data.weight1.t()), place)},
                    {"W.grad", take_rows(at::matmul(data.x.t(), data.grad_out), place)},
                    {"bias.grad", data.grad_out.sum(0)},
                    // The layer must not modify any of these.
                    {"x_shard", take_columns(data.x, place)},
                    {"W", take_rows(data.weight1, place)},
                    {"bias", data.bias}});
  };
  result.skip_reason = if_not_divided(sizes_for, &StepOptions::input_dim);
  result.bounds = row_layer_traffic(sizes_for);
  result.work = layer_work(sizes_for, 3);
  result.memory = layer_memory(sizes_for, 1);
  return result;
}

Case pair_case(const SizesFor& sizes_for, const std::string& name) {
  Case result = layer_case("a4.column_row", name, sizes_for);
  const auto grad_out_at = [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    return small({sizes.layer_batch, sizes.step.input_dim}, place.seed + 5);
  };
  result.inputs = [=](const CasePlace& place) {
    const LayerData data = layer_data(sizes_for, place);
    CaseInputs inputs;
    inputs.tensors = {{"input.x", data.x},
                      {"input.grad_out", grad_out_at(place)},
                      {"weight.W1", data.weight1},
                      {"weight.W2", data.weight2}};
    return inputs;
  };
  result.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    keep_columns(inputs.at("weight.W1"), place);
    keep_rows(inputs.at("weight.W2"), place);
  };
  result.expected = [=](const CasePlace& place) {
    const LayerData data = exact_data(sizes_for, place);
    const at::Tensor grad_out = grad_out_at(place).to(at::kDouble);
    const at::Tensor before = at::matmul(data.x, data.weight1);
    const at::Tensor hidden = at::relu(before);
    const at::Tensor grad_before = at::matmul(grad_out, data.weight2.t()) * before.gt(0);
    return rounded({{"out", at::matmul(hidden, data.weight2)},
                    {"x.grad", at::matmul(grad_before, data.weight1.t())},
                    {"W1.grad", take_columns(at::matmul(data.x.t(), grad_before), place)},
                    {"W2.grad", take_rows(at::matmul(hidden.t(), grad_out), place)},
                    // The pair must not modify any of these.
                    {"x", data.x},
                    {"W1", take_columns(data.weight1, place)},
                    {"W2", take_rows(data.weight2, place)}});
  };
  result.skip_reason = if_not_divided(sizes_for, &StepOptions::output_dim);
  result.bounds = pair_traffic(sizes_for);
  result.work = layer_work(sizes_for, 6);
  result.memory = layer_memory(sizes_for, 2);
  return result;
}

}  // namespace

std::vector<Case> unprinted_function_cases() {
  std::vector<Case> cases = {function_case(kReduce, "", {kSums})};
  for (const FunctionUnderTest& function : {kBroadcast, kGather, kReduce}) {
    cases.push_back(function_case(function, "Random", {{{7, 6}, true, 2}}));
    cases.push_back(function_case(function, "Twice", {{{3, 5}, false, 4}, {{2, 4, 2}, false, 6}, {{3, 5}, false, 8}}));
    // On tensors of one dimension, of float64, and such as are not contiguous.
    cases.push_back(function_case(function, "Strided",
                                  {{{6}, false, 10}, {{4, 3}, false, 12}, {{5, 2}, true, 14, at::kDouble}}, true));
    cases.back().tolerance = {1e-12, 1e-12};
  }
  return cases;
}

std::vector<Case> layer_cases_for(const SizesFor& sizes_for) {
  return {column_case(sizes_for, "InputGrad", false), column_case(sizes_for, "Bias", true),
          row_case(sizes_for, "RowParallel"), pair_case(sizes_for, "ColumnRow")};
}

std::vector<Case> twice_cases_for(const SizesFor& sizes_for) {
  std::vector<Case> cases;
  for (Case test_case : layer_cases_for(sizes_for)) {
    if (test_case.name == "Bias") continue;  // as InputGrad
    test_case.inputs = [inputs = test_case.inputs](const CasePlace& place) {
      CaseInputs all = inputs(place);
      all.numbers["twice"] = 1;
      return all;
    };
    test_case.expected = [expected = test_case.expected](const CasePlace& place) {
      TensorMap all = expected(place);
      const auto bias = all.find("bias");
      all["second.out"] = bias == all.end() ? 2 * all.at("out") : 2 * all.at("out") - bias->second;
      for (auto& [name, tensor] : all) {
        if (name == "x.grad" || name == "x_shard.grad") continue;
        if (name == "bias.grad") tensor = 2 * tensor;
        if (name[0] == 'W' && name.find(".grad") != std::string::npos) tensor = 3 * tensor;
      }
      const char* x_grad = all.count("x.grad") != 0 ? "x.grad" : "x_shard.grad";
      all[std::string("second.") + x_grad] = all.at(x_grad);
      return all;
    };
    test_case.bounds = {};
    test_case.work = test_case.memory = {};
    cases.push_back(test_case);
  }
  return cases;
}

std::vector<Case> further_cases(const LabSizes& sizes) {
  std::vector<Case> cases = {function_case(kBroadcast, "", {kSums}), function_case(kGather, "", {kParts})};
  for (const Case& layer : layer_cases_for([sizes](int) { return sizes; })) cases.push_back(layer);
  return cases;
}

}  // namespace lab::a4
