#include "a4_data_tensor/calls/calls.h"
#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/rank/sent_tensors.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The functions that draw, as the program of a judged rank has them.
namespace lab::a4 {
namespace {

constexpr std::uint64_t kTaskSeed = 5;  // nothing follows from it

/// Inputs such as the judge sends: with this seed the tasks are called, from another these were drawn.
CaseInputs some_inputs() {
  CaseInputs inputs;
  inputs.seed = kTaskSeed;
  inputs.numbers = {{"global_batch_size", 8}, {"input_dim", 3}, {"output_dim", 4}, {"learning_rate", 0.5}};
  inputs.tensors = {{"input.inputs", seeded_randn({8, 3}, 1)},
                    {"input.targets", seeded_randn({8, 4}, 2)},
                    {"weight.W", seeded_randn({3, 4}, 3)}};
  return inputs;
}

at::Tensor updated(const CaseInputs& inputs) {
  const at::Tensor &x = inputs.tensor("input.inputs"), &weight = inputs.tensor("weight.W");
  const at::Tensor error = at::matmul(x, weight) - inputs.tensor("input.targets");
  return weight - 0.5 * 2 / static_cast<double>(error.numel()) * at::matmul(x.t(), error);
}

TEST_CASE("a judged rank draws what it was sent, each time as a copy") {
  const CaseInputs inputs = some_inputs();
  const SentTensors sent(inputs);
  const StepOptions options = step_options(inputs);
  initial_weight(options).zero_();
  CHECK(at::equal(initial_weight(options), inputs.tensor("weight.W")));
  const Batch batch = create_batch(options);
  CHECK(at::equal(batch.inputs, inputs.tensor("input.inputs")));
  CHECK(at::equal(batch.targets, inputs.tensor("input.targets")));
}

TEST_CASE("a judged rank cannot draw anything else") {
  const CaseInputs inputs = some_inputs();
  const SentTensors sent(inputs);
  StepOptions other_seed = step_options(inputs), other_size = step_options(inputs);
  other_seed.seed = 42;
  CHECK(contains(testing::get_message<UsageError>([&] { create_batch(other_seed); }),
                 "asked for 'input.inputs' [8, 3], but from another seed"));
  CHECK_THROWS_AS(initial_weight(other_seed), UsageError);
  other_size.global_batch_size = 16;
  CHECK(contains(testing::get_message<UsageError>([&] { create_batch(other_size); }), "this rank was sent [8, 3]"));
}

/// The weights that a task returns on 2 ranks, each of which was sent what `keep` leaves of the inputs.
std::vector<at::Tensor> read_weights(const TaskCall& call, const std::function<void(int rank, TensorMap&)>& keep) {
  const auto outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
    CaseInputs inputs = some_inputs();
    keep(comm.rank(), inputs.tensors);
    const SentTensors sent(inputs);
    return call(comm, inputs);
  });
  if (outcome.failure) FAIL_CHECK(outcome.failure->message);
  return {tensor_of_rank(outcome, 0, "W"), tensor_of_rank(outcome, 1, "W")};
}

void keep_own_rows(int rank, TensorMap& tensors) {
  for (const char* name : {"input.inputs", "input.targets"})
    tensors.at(name) = only_part(tensors.at(name), 0, even_slice(8, 2, rank));
}

TEST_CASE("the reference reads only its own rows, and only its own columns") {
  for (const at::Tensor& weight : read_weights(calls().at("a4.data_parallel"), keep_own_rows))
    CHECK(compare(weight, updated(some_inputs())).close);
  const auto keep_own_columns = [](int rank, TensorMap& tensors) {
    tensors.at("weight.W") = only_part(tensors.at("weight.W"), 1, even_slice(4, 2, rank));
  };
  for (const at::Tensor& weight : read_weights(calls().at("a4.column_parallel"), keep_own_columns))
    CHECK(compare(weight, updated(some_inputs())).close);
}

}  // namespace
}  // namespace lab::a4
