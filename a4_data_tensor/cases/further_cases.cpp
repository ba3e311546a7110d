#include "a4_data_tensor/cases/cases.h"
#include "a4_data_tensor/cases/work_bounds.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/partition.h"

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

constexpr std::int64_t kBatch = 12;  // a batch that few world sizes divide: tensor parallelism does not split it

LayerData layer_data(const LabSizes& sizes, std::uint64_t seed) {
  const std::int64_t in = sizes.step.input_dim;
  const std::int64_t out = sizes.step.output_dim;
  return {small({kBatch, in}, seed), small({in, out}, seed + 1), small({out, in}, seed + 2), small({out}, seed + 3),
          small({kBatch, out}, seed + 4)};
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

Case column_case(const LabSizes& sizes, const std::string& name, bool with_bias) {
  Case result = exact_case("a4.column_parallel", name);
  result.inside_backward = true;
  result.inputs = [sizes, with_bias](const CasePlace& place) {
    return layer_inputs(layer_data(sizes, place.seed), with_bias);
  };
  result.keep_own_part = [with_bias](const CasePlace& place, TensorMap& inputs) {
    keep_columns(inputs.at("weight.W"), place);
    if (with_bias) keep_columns(inputs.at("weight.bias"), place);
  };
  result.expected = [sizes, with_bias](const CasePlace& place) {
    const LayerData data = layer_data(sizes, place.seed);
    const at::Tensor out = at::matmul(data.x, data.weight1);
    TensorMap expected = {{"out", with_bias ? out + data.bias : out},
                          {"x.grad", at::matmul(data.grad_out, data.weight1.t())},
                          {"W.grad", columns_of(at::matmul(data.x.t(), data.grad_out), place)}};
    if (with_bias) expected["bias.grad"] = columns_of(data.grad_out.sum(0), place);
    return expected;
  };
  result.work = layer_work(sizes, kBatch, 3);
  return result;
}

Case broadcast_case() {
  Case result = exact_case("a4.broadcast_parallel", "BroadcastParallel");
  result.inside_backward = true;
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", exact_values({5, 3}, at::kFloat, place.seed)},
                      {"input.grad_out", exact_values_for_rank({5, 3}, at::kFloat, place.seed + 1, place.rank)}};
    return inputs;
  };
  result.expected = [](const CasePlace& place) {
    at::Tensor sum = at::zeros({5, 3});
    for (int rank = 0; rank < place.size; ++rank)
      sum += exact_values_for_rank({5, 3}, at::kFloat, place.seed + 1, rank);
    // The incoming gradient belongs to autograd: it must not be modified.
    return TensorMap{{"out", exact_values({5, 3}, at::kFloat, place.seed)},
                     {"x.grad", sum},
                     {"grad_out", exact_values_for_rank({5, 3}, at::kFloat, place.seed + 1, place.rank)}};
  };
  return result;
}

Case gather_case() {
  Case result = exact_case("a4.gather_parallel", "GatherParallel");
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", exact_values_for_rank({2, 3, 4}, at::kFloat, place.seed, place.rank)},
                      {"input.grad_out", exact_values({2, 3, 4 * place.size}, at::kFloat, place.seed + 1)}};
    return inputs;
  };
  result.expected = [](const CasePlace& place) {
    std::vector<at::Tensor> parts;
    for (int rank = 0; rank < place.size; ++rank)
      parts.push_back(exact_values_for_rank({2, 3, 4}, at::kFloat, place.seed, rank));
    return TensorMap{{"out", at::cat(parts, -1)},
                     {"x.grad", columns_of(exact_values({2, 3, 4 * place.size}, at::kFloat, place.seed + 1), place)}};
  };
  return result;
}

/// The budget for `num_sums` sums over the ranks of a tensor of this shape, each by an all-reduce or by a
/// reduce-scatter and an all-gather, which send the same: 2 (P-1)/P of its bytes. Also gathering the hidden features
/// exceeds it.
CostBounds sums_of(const std::vector<std::int64_t>& shape, std::uint64_t num_sums) {
  const auto num_bytes = static_cast<std::uint64_t>(c10::multiply_integers(shape)) * sizeof(float);
  return [=](const CasePlace& place) {
    const auto size = static_cast<std::uint64_t>(place.size);
    CostBound all;
    all.max_bytes_sent = num_sums * (2 * num_bytes * (size - 1) / size);
    return std::vector<CostBound>{{"all_reduce", num_sums}, {"all_gather", num_sums}, all};
  };
}

Case row_case(const LabSizes& sizes) {
  Case result = exact_case("a4.row_parallel", "RowParallel");
  result.inputs = [sizes](const CasePlace& place) {
    const LayerData data = layer_data(sizes, place.seed);
    CaseInputs inputs = layer_inputs(data, true);
    inputs.tensors["input.x_shard"] = columns_of(data.x, place);
    return inputs;
  };
  result.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    keep_rows(inputs.at("weight.W"), place);
    inputs.erase("input.x");  // of which x_shard is this rank's
  };
  result.expected = [sizes](const CasePlace& place) {
    const LayerData data = layer_data(sizes, place.seed);
    return TensorMap{{"out", at::matmul(data.x, data.weight1) + data.bias},
                     {"x_shard.grad", columns_of(at::matmul(data.grad_out, data.weight1.t()), place)},
                     {"W.grad", rows_of(at::matmul(data.x.t(), data.grad_out), place)},
                     {"bias.grad", data.grad_out.sum(0)}};
  };
  result.bounds = sums_of({kBatch, sizes.step.output_dim}, 1);
  result.work = layer_work(sizes, kBatch, 3);
  return result;
}

Case pair_case(const LabSizes& sizes) {
  Case result = exact_case("a4.column_row", "ColumnRow");
  result.inside_backward = true;
  result.inputs = [sizes](const CasePlace& place) {
    const LayerData data = layer_data(sizes, place.seed);
    CaseInputs inputs;
    inputs.tensors = {{"input.x", data.x},
                      {"input.grad_out", small({kBatch, sizes.step.input_dim}, place.seed + 5)},
                      {"weight.W1", data.weight1},
                      {"weight.W2", data.weight2}};
    return inputs;
  };
  result.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    keep_columns(inputs.at("weight.W1"), place);
    keep_rows(inputs.at("weight.W2"), place);
  };
  result.expected = [sizes](const CasePlace& place) {
    const LayerData data = layer_data(sizes, place.seed);
    const at::Tensor grad_out = small({kBatch, sizes.step.input_dim}, place.seed + 5);
    const at::Tensor before = at::matmul(data.x, data.weight1);
    const at::Tensor hidden = at::relu(before);
    const at::Tensor grad_before = at::matmul(grad_out, data.weight2.t()) * before.gt(0);
    return TensorMap{{"out", at::matmul(hidden, data.weight2)},
                     {"x.grad", at::matmul(grad_before, data.weight1.t())},
                     {"W1.grad", columns_of(at::matmul(data.x.t(), grad_before), place)},
                     {"W2.grad", rows_of(at::matmul(hidden.t(), grad_out), place)}};
  };
  result.bounds = sums_of({kBatch, sizes.step.input_dim}, 2);
  result.work = layer_work(sizes, kBatch, 6);
  return result;
}

}  // namespace

std::vector<Case> further_cases(const LabSizes& sizes) {
  return {broadcast_case(), gather_case(),   column_case(sizes, "InputGrad", false), column_case(sizes, "Bias", true),
          row_case(sizes),  pair_case(sizes)};
}

}  // namespace lab::a4
