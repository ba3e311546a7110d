#include "common/checks/tests/small_lab.h"

#include "common/tensor/exact_data.h"

namespace lab::testing {
namespace {

at::Tensor exact(at::IntArrayRef shape, const CasePlace& place, int rank, std::uint64_t offset = 0) {
  return exact_values_for_rank(shape, at::kDouble, place.seed + offset, rank);
}

at::Tensor exact_sum(at::IntArrayRef shape, const CasePlace& place, std::uint64_t offset = 0) {
  at::Tensor sum = at::zeros(shape, at::kDouble);
  for (int rank = 0; rank < place.size; ++rank) sum += exact(shape, place, rank, offset);
  return sum;
}

Case exact_case(const std::string& name) {
  Case result;
  result.task = "a0." + name;
  result.name = result.prefix = name;
  result.tolerance = {0, 0};
  return result;
}

using Make = std::function<TensorMap(const CasePlace&)>;

Case case_with(const std::string& name, const Make& inputs, const Make& expected) {
  Case result = exact_case(name);
  result.inputs = [inputs](const CasePlace& place) {
    CaseInputs made;
    made.tensors = inputs(place);
    return made;
  };
  result.expected = expected;
  return result;
}

constexpr std::int64_t kColumns = 6;  // of each rank's picture
const std::vector<std::int64_t> kRowX = {5, 4}, kRowWeight = {4, 3};

at::Tensor picture(const CasePlace& place) {
  return exact({1, 2, 3, kColumns * place.size}, place, 0);
}

at::Tensor own_columns(const at::Tensor& whole, const CasePlace& place) {
  return whole.narrow(3, kColumns * place.rank, kColumns).contiguous();
}

/// Each column plus its two neighbours; zeros beyond the ends.
at::Tensor with_neighbours(const at::Tensor& columns) {
  const at::Tensor padded = at::constant_pad_nd(columns, {1, 1});
  const std::int64_t width = columns.size(3);
  return padded.narrow(3, 0, width) + padded.narrow(3, 1, width) + padded.narrow(3, 2, width);
}

}  // namespace

at::Tensor summed(Communicator& comm, const at::Tensor& tensor) {
  return comm.collectives().all_reduce(tensor.clone());
}

at::Tensor read_x(const CaseInputs& inputs) {
  return inputs.tensor("input.x").clone();
}

SmallTask sum_task() {
  return {case_with(
              "sum",
              [](const CasePlace& place) {
                return TensorMap{{"input.x", exact({12, 3}, place, place.rank)}};
              },
              [](const CasePlace& place) {
                return TensorMap{{"out", exact_sum({12, 3}, place)}, {"x", exact_sum({12, 3}, place)}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor sum = summed(comm, read_x(inputs));
            return TensorMap{{"out", sum}, {"x", sum}};
          }};
}

SmallTask product_task() {
  const auto factor = [](const CasePlace& place, int rank, std::uint64_t offset) {
    return exact({4, 6}, place, rank, offset);
  };
  return {case_with(
              "product",
              [factor](const CasePlace& place) {
                return TensorMap{{"input.a", factor(place, place.rank, 0)}, {"input.b", factor(place, place.rank, 1)}};
              },
              [factor](const CasePlace& place) {
                at::Tensor sum = at::zeros({4, 6}, at::kDouble);
                for (int rank = 0; rank < place.size; ++rank) sum += factor(place, rank, 0) * factor(place, rank, 1);
                return TensorMap{{"out", sum}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            return TensorMap{{"out", summed(comm, inputs.tensor("input.a") * inputs.tensor("input.b"))}};
          }};
}

SmallTask gather_task() {
  return {case_with(
              "gather",
              [](const CasePlace& place) {
                return TensorMap{{"input.x", exact({2, 3}, place, place.rank)}};
              },
              [](const CasePlace& place) {
                std::vector<at::Tensor> parts;
                for (int rank = 0; rank < place.size; ++rank) parts.push_back(exact({2, 3}, place, rank));
                return TensorMap{{"out", at::cat(parts)}, {"x", exact({2, 3}, place, place.rank)}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor x = read_x(inputs);
            return TensorMap{{"out", at::cat(comm.collectives().all_gather(x))}, {"x", x}};
          }};
}

SmallTask scatter_task() {
  const auto shape = [](const CasePlace& place) { return std::vector<std::int64_t>{3 * place.size, 2}; };
  return {case_with(
              "scatter",
              [shape](const CasePlace& place) {
                return TensorMap{{"input.x", exact(shape(place), place, place.rank)}};
              },
              [shape](const CasePlace& place) {
                return TensorMap{{"out", exact_sum(shape(place), place).narrow(0, 3 * place.rank, 3)}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            return TensorMap{{"out", comm.collectives().reduce_scatter(read_x(inputs))}};
          }};
}

SmallTask row_task() {
  const auto product = [](const CasePlace& place, int rank) {
    return at::matmul(exact(kRowX, place, rank), exact(kRowWeight, place, rank, 1));
  };
  return {case_with(
              "row",
              [](const CasePlace& place) {
                return TensorMap{{"input.x", exact(kRowX, place, place.rank)},
                                 {"weight.W", exact(kRowWeight, place, place.rank, 1)},
                                 {"weight.bias", exact({3}, place, 0, 2)},
                                 {"input.grad_out", exact({5, 3}, place, 0, 3)}};
              },
              [product](const CasePlace& place) {
                at::Tensor out = exact({3}, place, 0, 2).expand({5, 3}).clone();
                for (int rank = 0; rank < place.size; ++rank) out += product(place, rank);
                const at::Tensor weight = exact(kRowWeight, place, place.rank, 1);
                return TensorMap{{"out", out}, {"x.grad", at::matmul(exact({5, 3}, place, 0, 3), weight.t())}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor& weight = inputs.tensor("weight.W");
            const at::Tensor sum = summed(comm, at::matmul(read_x(inputs), weight));
            return TensorMap{{"out", sum + inputs.tensor("weight.bias")},
                             {"x.grad", at::matmul(inputs.tensor("input.grad_out"), weight.t())}};
          }};
}

SmallTask update_task() {
  return {case_with(
              "update",
              [](const CasePlace& place) {
                return TensorMap{{"weight.W", exact({3, 2}, place, 0)},
                                 {"input.grad", exact({3, 2}, place, place.rank, 1)}};
              },
              [](const CasePlace& place) {
                return TensorMap{{"W", exact({3, 2}, place, 0) - 0.5 * exact_sum({3, 2}, place, 1) / place.size}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor mean = summed(comm, inputs.tensor("input.grad")) / comm.size();
            return TensorMap{{"W", inputs.tensor("weight.W") - 0.5 * mean}};
          }};
}

SmallTask count_task() {
  constexpr int pieces = 5;
  SmallTask task = {case_with(
                        "count",
                        [](const CasePlace& place) {
                          return TensorMap{{"input.x", exact({pieces, 8}, place, 0)}};
                        },
                        [](const CasePlace& place) {
                          return TensorMap{{"W.grad", exact({pieces, 8}, place, 0).sum(0) / pieces}};
                        }),
                    [](Communicator&, const CaseInputs& inputs) {
                      return TensorMap{{"W.grad", inputs.tensor("input.x").sum(0) / inputs.number("micro_batches")}};
                    }};
  task.test_case.only_rank_zero = true;
  const auto tensors_only = task.test_case.inputs;
  task.test_case.inputs = [tensors_only](const CasePlace& place) {
    CaseInputs inputs = tensors_only(place);
    inputs.numbers["micro_batches"] = pieces;
    return inputs;
  };
  return task;
}

SmallTask stencil_task() {
  return {case_with(
              "stencil",
              [](const CasePlace& place) {
                return TensorMap{{"input.x", own_columns(picture(place), place)}};
              },
              [](const CasePlace& place) {
                return TensorMap{{"out", own_columns(with_neighbours(picture(place)), place)}};
              }),
          [](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor whole = at::cat(comm.collectives().all_gather(read_x(inputs)), 3);
            return TensorMap{{"out", own_columns(with_neighbours(whole), {comm.rank(), comm.size(), 0})}};
          }};
}

}  // namespace lab::testing
