#include "a4_data_tensor/cases/bounds.h"
#include "a4_data_tensor/cases/cases.h"
#include "common/api/partition.h"
#include "common/tensor/exact_data.h"

namespace lab::a4 {
namespace {

/// Integers from -2 to 2: products of three matrices of these sizes stay exact in float32.
at::Tensor small(at::IntArrayRef shape, std::uint64_t seed) {
  return exact_values(shape, at::kHalf, seed).to(at::kFloat);
}

at::Tensor columns_of(const at::Tensor& tensor, const CasePlace& place) {
  const Slice slice = even_slice(tensor.size(-1), place.size, place.rank);
  return tensor.narrow(-1, slice.begin, slice.size).contiguous();
}

at::Tensor rows_of(const at::Tensor& tensor, const CasePlace& place) {
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

LayerData layer_data(const LabSizes& sizes, std::uint64_t seed) {
  const std::int64_t in = sizes.step.input_dim, out = sizes.step.output_dim, batch = sizes.layer_batch;
  return {small({batch, in}, seed), small({in, out}, seed + 1), small({out, in}, seed + 2), small({out}, seed + 3),
          small({batch, out}, seed + 4)};
}

LayerData layer_data(const SizesFor& sizes_for, const CasePlace& place) {
  return layer_data(sizes_for(place.size), place.seed);
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

CaseInputs layer_inputs(const LayerData& data, bool with_bias) {
  CaseInputs inputs;
  inputs.tensors = {{"input.x", data.x}, {"input.grad_out", data.grad_out}, {"weight.W", data.weight1}};
  if (with_bias) inputs.tensors["weight.bias"] = data.bias;
  return inputs;
}

Case column_case(const SizesFor& sizes_for, const std::string& name, bool with_bias) {
  Case result = exact_case("a4.column_parallel", name);
  result.inputs = [=](const CasePlace& place) { return layer_inputs(layer_data(sizes_for, place), with_bias); };
  result.keep_own_part = [with_bias](const CasePlace& place, TensorMap& inputs) {
    keep_columns(inputs.at("weight.W"), place);
    if (with_bias) keep_columns(inputs.at("weight.bias"), place);
  };
  result.expected = [=](const CasePlace& place) {
    const LayerData data = layer_data(sizes_for, place);
    const at::Tensor out = at::matmul(data.x, data.weight1);
    TensorMap expected = {{"out", with_bias ? out + data.bias : out},
                          {"x.grad", at::matmul(data.grad_out, data.weight1.t())},
                          {"W.grad", columns_of(at::matmul(data.x.t(), data.grad_out), place)},
                          // The layer must not modify either.
                          {"x", data.x},
                          {"W", columns_of(data.weight1, place)}};
    if (with_bias) {
      expected["bias.grad"] = columns_of(data.grad_out.sum(0), place);
      expected["bias"] = columns_of(data.bias, place);
    }
    return expected;
  };
  result.skip_reason = if_not_divided(sizes_for, &StepOptions::output_dim);
  result.bounds = column_layer_traffic(sizes_for);
  result.work = layer_work(sizes_for, 3);
  result.memory = layer_memory(sizes_for, 1);
  return result;
}

/// f, the gather, or g, on tensors of small integers.
struct FunctionUnderTest {
  std::string task, name;
  std::function<at::Tensor(const CasePlace&)> x, grad_out, out, x_grad;
  CostBounds bounds;
};

Case function_case(const FunctionUnderTest& function) {
  Case result = exact_case(function.task, function.name);
  result.inputs = [=](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", function.x(place)}, {"input.grad_out", function.grad_out(place)}};
    return inputs;
  };
  result.expected = [=](const CasePlace& place) {
    return TensorMap{{"out", function.out(place)},
                     {"x.grad", function.x_grad(place)},
                     // The incoming gradient belongs to autograd, and x to the caller: neither may be modified.
                     {"x", function.x(place)},
                     {"grad_out", function.grad_out(place)}};
  };
  result.bounds = function.bounds;
  return result;
}

const std::vector<std::int64_t> kSumShape = {5, 3}, kPartShape = {2, 3, 4};

at::Tensor same_everywhere(const CasePlace& place) {
  return exact_values(kSumShape, at::kFloat, place.seed);
}

at::Tensor own_values(const CasePlace& place) {
  return exact_values_for_rank(kSumShape, at::kFloat, place.seed + 1, place.rank);
}

at::Tensor sum_of_own_values(const CasePlace& place) {
  at::Tensor sum = at::zeros(kSumShape);
  for (int rank = 0; rank < place.size; ++rank) sum += own_values({rank, place.size, place.seed});
  return sum;
}

Case broadcast_case() {
  return function_case({"a4.broadcast_parallel", "BroadcastParallel", same_everywhere, own_values, same_everywhere,
                        sum_of_own_values, one_sum(kSumShape)});
}

at::Tensor own_part(const CasePlace& place) {
  return exact_values_for_rank(kPartShape, at::kFloat, place.seed, place.rank);
}

at::Tensor all_parts(const CasePlace& place) {
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < place.size; ++rank) parts.push_back(own_part({rank, place.size, place.seed}));
  return at::cat(parts, -1);
}

at::Tensor gradient_of_all_parts(const CasePlace& place) {
  return exact_values({kPartShape[0], kPartShape[1], kPartShape[2] * place.size}, at::kFloat, place.seed + 1);
}

Case gather_case() {
  return function_case({"a4.gather_parallel", "GatherParallel", own_part, gradient_of_all_parts, all_parts,
                        [](const CasePlace& place) { return columns_of(gradient_of_all_parts(place), place); },
                        one_gather(kPartShape)});
}

Case row_case(const SizesFor& sizes_for, const std::string& name) {
  Case result = exact_case("a4.row_parallel", name);
  result.inputs = [=](const CasePlace& place) {
    const LayerData data = layer_data(sizes_for, place);
    CaseInputs inputs = layer_inputs(data, true);
    inputs.tensors["input.x_shard"] = columns_of(data.x, place);
    return inputs;
  };
  result.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    keep_rows(inputs.at("weight.W"), place);
    inputs.erase("input.x");  // of which x_shard is this rank's
  };
  result.expected = [=](const CasePlace& place) {
    const LayerData data = layer_data(sizes_for, place);
    return TensorMap{{"out", at::matmul(data.x, data.weight1) + data.bias},
                     {"x_shard.grad", columns_of(at::matmul(data.grad_out, data.weight1.t()), place)},
                     {"W.grad", rows_of(at::matmul(data.x.t(), data.grad_out), place)},
                     {"bias.grad", data.grad_out.sum(0)},
                     // The layer must not modify any of these.
                     {"x_shard", columns_of(data.x, place)},
                     {"W", rows_of(data.weight1, place)},
                     {"bias", data.bias}};
  };
  result.skip_reason = if_not_divided(sizes_for, &StepOptions::input_dim);
  result.bounds = row_layer_traffic(sizes_for);
  result.work = layer_work(sizes_for, 3);
  result.memory = layer_memory(sizes_for, 1);
  return result;
}

Case pair_case(const SizesFor& sizes_for, const std::string& name) {
  Case result = exact_case("a4.column_row", name);
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
    const LayerData data = layer_data(sizes_for, place);
    const at::Tensor grad_out = grad_out_at(place);
    const at::Tensor before = at::matmul(data.x, data.weight1);
    const at::Tensor hidden = at::relu(before);
    const at::Tensor grad_before = at::matmul(grad_out, data.weight2.t()) * before.gt(0);
    return TensorMap{{"out", at::matmul(hidden, data.weight2)},
                     {"x.grad", at::matmul(grad_before, data.weight1.t())},
                     {"W1.grad", columns_of(at::matmul(data.x.t(), grad_before), place)},
                     {"W2.grad", rows_of(at::matmul(hidden.t(), grad_out), place)},
                     // The pair must not modify any of these.
                     {"x", data.x},
                     {"W1", columns_of(data.weight1, place)},
                     {"W2", rows_of(data.weight2, place)}};
  };
  result.skip_reason = if_not_divided(sizes_for, &StepOptions::output_dim);
  result.bounds = pair_traffic(sizes_for);
  result.work = layer_work(sizes_for, 6);
  result.memory = layer_memory(sizes_for, 2);
  return result;
}

}  // namespace

Case reduce_parallel_case() {
  return function_case({"a4.row_parallel", "ReduceParallel", own_values, same_everywhere, sum_of_own_values,
                        same_everywhere, one_all_reduce(kSumShape)});
}

std::vector<Case> layer_cases_for(const SizesFor& sizes_for) {
  return {column_case(sizes_for, "InputGrad", false), column_case(sizes_for, "Bias", true),
          row_case(sizes_for, "RowParallel"), pair_case(sizes_for, "ColumnRow")};
}

std::vector<Case> further_cases(const LabSizes& sizes) {
  std::vector<Case> cases = {broadcast_case(), gather_case()};
  for (const Case& layer : layer_cases_for([sizes](int) { return sizes; })) cases.push_back(layer);
  return cases;
}

}  // namespace lab::a4
