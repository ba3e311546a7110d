#include <fmt/format.h>

#include "a5_pipeline/calls/calls.h"
#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/model.h"
#include "common/api/errors.h"
#include "common/rank/sent_tensors.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Layers and micro-batches as the program of a judged rank has them.
namespace lab::a5 {
namespace {

/// Inputs such as the judge sends: with this seed the tasks are called, from others these were drawn.
CaseInputs some_inputs() {
  CaseInputs inputs;
  inputs.seed = 5;
  inputs.numbers = {{"global_batch_size", 4}, {"micro_batch_size", 2},  {"sequence_length", 3},
                    {"hidden_size", 4},       {"intermediate_size", 6}, {"number_of_layers", 3},
                    {"is_float64", 1},        {"is_relu", 0},           {"num_chunks", 1}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    inputs.tensors[fmt::format("weight.layer{}.fc1", i)] = seeded_randn({6, 4}, i, at::kDouble);
    inputs.tensors[fmt::format("weight.layer{}.fc2", i)] = seeded_randn({4, 6}, 10 + i, at::kDouble);
  }
  for (std::uint64_t i = 0; i < 2; ++i)
    inputs.tensors[fmt::format("input.micro_batch{}", i)] = seeded_rand({2, 3, 4}, 20 + i, at::kDouble);
  return inputs;
}

std::string refused(const std::function<void()>& draw) {
  return testing::get_message<UsageError>(draw);
}

TEST_CASE("a judged rank makes the layers and micro-batches that it was sent") {
  const CaseInputs inputs = some_inputs();
  const SentTensors sent(inputs);
  const PipelineArguments arguments = make_arguments(inputs);
  const Model model(arguments, {2, 0});
  CHECK(at::equal(model.layers()[0].fc1, inputs.tensor("weight.layer2.fc1")));
  CHECK(at::equal(model.layers()[1].fc2, inputs.tensor("weight.layer0.fc2")));
  CHECK(model.layers()[0].index == 2);
  CHECK((model.layers()[0].fc1.is_leaf() && model.layers()[0].fc1.requires_grad()));
  DataLoader data(arguments);
  CHECK(at::equal(data.next(), inputs.tensor("input.micro_batch0")));
  CHECK(at::equal(data.next(), inputs.tensor("input.micro_batch1")));
  CHECK_THROWS_AS(data.next(), ContractError);
}

TEST_CASE("a judged rank cannot make another rank's layers, take its data, or draw from another seed") {
  CaseInputs inputs = some_inputs();
  inputs.tensors.erase("weight.layer1.fc1");
  inputs.tensors.erase("input.micro_batch0");
  const SentTensors sent(inputs);
  PipelineArguments arguments = make_arguments(inputs);
  CHECK(contains(refused([&] { Model(arguments, {0, 1}); }), "asked for 'weight.layer1.fc1' [6, 4]"));
  CHECK(contains(refused([&] { DataLoader(arguments).next(); }), "this rank was sent no such tensor"));
  CHECK_THROWS_AS(Model(arguments, {3}), ContractError);
  arguments.seed = 1234;
  CHECK(contains(refused([&] { make_layer(arguments, 0); }), "another seed"));
}

TEST_CASE("the reference needs only its own stage's layers, and the data on the first stage") {
  constexpr int kRanks = 3;
  const auto run = [](bool keep_own) {
    return launch::run_ranks(threads(kRanks), [keep_own](Communicator& comm) {
      CaseInputs inputs = some_inputs();
      for (int rank = 0; keep_own && rank < kRanks; ++rank) {
        if (rank == comm.rank()) continue;
        inputs.tensors.erase(fmt::format("weight.layer{}.fc1", rank));
        inputs.tensors.erase(fmt::format("weight.layer{}.fc2", rank));
      }
      for (int i = 0; keep_own && comm.rank() > 0 && i < 2; ++i)
        inputs.tensors.erase(fmt::format("input.micro_batch{}", i));
      const SentTensors sent(inputs);
      return calls().at("a5.all_forward_all_backward")(comm, inputs);
    });
  };
  const launch::WorldOutcome own = run(true), all = run(false);
  CHECK_MESSAGE(!own.failure, (own.failure ? own.failure->message : ""));
  REQUIRE(!all.failure);
  for (int rank = 0; rank < kRanks; ++rank) {
    const TensorMap& results = own.ranks[static_cast<std::size_t>(rank)].tensors;
    CHECK(results.count(fmt::format("layer{}.fc1.grad", rank)) == 1);
    CHECK((results.count("outputs") == 1) == (rank == kRanks - 1));
    for (const auto& [name, tensor] : results) CHECK(at::equal(tensor, tensor_of_rank(all, rank, name)));
  }
}

}  // namespace
}  // namespace lab::a5
