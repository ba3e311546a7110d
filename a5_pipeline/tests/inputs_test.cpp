#include <fcntl.h>
#include <fmt/format.h>

#include "a5_pipeline/baseline.h"
#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/commands/main_comparison.h"
#include "a5_pipeline/comparisons.h"
#include "common/api/compare.h"
#include "common/tensor/files/safetensors.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

namespace lab::a5 {
namespace {

// A judged rank is sent its own stages' weights, and the data only if it has the first stage.

bool is_prefix(const std::string& prefix, const std::string& name) {
  return name.compare(0, prefix.size(), prefix) == 0;
}

/// The names that begin like this.
std::vector<std::string> list_names(const TensorMap& tensors, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& named : tensors) {
    if (is_prefix(prefix, named.first)) names.push_back(named.first);
  }
  return names;
}

void check_judged(const Case& test_case, int size) {
  CAPTURE(test_case.name);
  CAPTURE(size);
  TensorMap of_all_ranks;
  for (int rank = 0; rank < size; ++rank) {
    CAPTURE(rank);
    const CasePlace place{rank, size, 7};
    const TensorMap all = test_case.inputs(place).tensors, sent = judged_inputs(test_case, place).tensors;
    for (const auto& [name, tensor] : sent) CHECK(at::equal(tensor, all.at(name)));
    // The weights of the layers whose gradients it must return, and no others.
    std::vector<std::string> own;
    for (const auto& result : test_case.expected(place)) {
      const std::string& name = result.first;
      if (is_prefix("layer", name))
        own.push_back("weight." + name.substr(0, name.size() - std::string(".grad").size()));
    }
    CHECK((list_names(sent, "weight.") == own));
    CHECK(list_names(sent, "input.").size() == (rank == 0 ? list_names(all, "input.").size() : 0));
    for (const auto& [name, tensor] : sent) CHECK(of_all_ranks.emplace(name, tensor).second);
    if (rank == size - 1) CHECK(of_all_ranks.size() == all.size());
  }
}

TEST_CASE("judged: each rank is sent its own stages' weights, the first one the data, and nothing is sent twice") {
  for (const int size : {1, 3, 4}) {
    for (const Case& test_case : pipeline_cases()) check_judged(test_case, size);
    for (const Case& test_case : schedule_cases()) check_judged(test_case, size);
  }
}

TEST_CASE("judged: the model alone is sent whole, to the rank that runs it") {
  for (const Case& test_case : baseline_cases())
    CHECK(judged_inputs(test_case, {0, 4, 7}).tensors.size() == test_case.inputs({0, 4, 7}).tensors.size());
}

// What --save writes is enough to recompute the results without this project's code.

PipelineArguments five_layers() {
  PipelineArguments arguments;
  arguments.global_batch_size = 6;
  arguments.sequence_length = 3;
  arguments.hidden_size = 16;
  arguments.intermediate_size = 40;
  arguments.number_of_layers = 5;
  return arguments;
}

/// fc2(f(fc1(x))) for each layer, whose weights have these names; f is ReLU or tanh.
at::Tensor forward(at::Tensor x, const TensorMap& saved, const std::vector<std::string>& layer_names, bool is_relu) {
  for (const std::string& name : layer_names) {
    const at::Tensor inner = at::matmul(x, saved.at(name + ".fc1").t());
    x = at::matmul(is_relu ? inner.clamp_min(0) : inner.tanh(), saved.at(name + ".fc2").t());
  }
  return x;
}

TEST_CASE("the lab's comparison: outputs follow from the data and the weights that all ranks saved") {
  const PipelineArguments arguments = five_layers();
  const Model model(arguments, all_layers(arguments));
  DataLoader data(arguments);
  TensorMap baseline;
  const std::vector<at::Tensor> outputs = baseline_forward_backward(model, data, arguments);
  for (const auto& [name, gradient] : model.gradients()) baseline[name] = gradient;
  for (std::size_t i = 0; i < outputs.size(); ++i) baseline[fmt::format("output{}", i)] = outputs[i];
  const testing::TemporaryFolder folder;
  save_safetensors(folder.file("baseline"), baseline);
  const BaselineFile file(UniqueFd(::open(folder.file("baseline").c_str(), O_RDONLY)));

  LabOptions options;
  options.arguments = arguments;
  for (const char* kind : {"afab", "interleaved"}) {
    CAPTURE(kind);
    options.schedule = kind;
    const int num_ranks = kind[0] == 'a' ? 3 : 1;
    cli::CommonOptions common;
    common.save_dir = folder.file(".");
    std::vector<TensorMap> of_ranks(static_cast<std::size_t>(num_ranks));
    const launch::WorldOutcome outcome = launch::run_ranks(
        threads(num_ranks), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
          log::PrinterOptions silent;
          silent.fd = -1;
          log::Printer printer(silent);
          TensorMap& saved = of_ranks[static_cast<std::size_t>(comm.rank())];
          const CallTable no_calls;
          RankRun run{comm, printer, common, no_calls, "N/A", comm.rank(), at::kCPU, saved, own.report.parts};
          compare_with_baseline(run, options, file);
          own.exit_code = printer.exit_code();
        }));
    CHECK(outcome.exit_code() == 0);
    TensorMap saved;
    for (TensorMap& of_rank : of_ranks) saved.merge(of_rank);
    std::vector<std::string> layers;
    for (std::int64_t l = 0; l < arguments.number_of_layers; ++l)
      layers.push_back(fmt::format("Layer{}.weight.layer{}", l, l));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const at::Tensor again = forward(saved.at(fmt::format("Outputs.input.micro_batch{}", i)), saved, layers, false);
      const std::string name = fmt::format("output{}", i);
      CHECK(compare(again, saved.at("Outputs.actual." + name), tolerance_of(arguments)).close);
      CHECK(at::equal(saved.at("Outputs.expected." + name), outputs[i]));
    }
    CHECK(saved.count("Layer4.actual.layer4.fc2") == 1);
  }
}

TEST_CASE("a case: its expected outputs follow from its inputs") {
  for (const Case& test_case : pipeline_cases()) {
    CAPTURE(test_case.name);
    const CasePlace place{1, 2, 7};
    const TensorMap inputs = test_case.inputs(place).tensors;
    const bool is_relu = test_case.inputs(place).integer("is_relu") != 0;
    const TensorMap expected = test_case.expected(place);
    std::vector<std::string> layers;
    while (inputs.count(fmt::format("weight.layer{}.fc1", layers.size())) != 0)
      layers.push_back(fmt::format("weight.layer{}", layers.size()));
    CHECK(layers.size() == static_cast<std::size_t>(test_case.inputs(place).integer("number_of_layers")));
    for (std::int64_t i = 0; i < expected.at("outputs").size(0); ++i) {
      const at::Tensor again = forward(inputs.at(fmt::format("input.micro_batch{}", i)), inputs, layers, is_relu);
      CHECK(compare(again, expected.at("outputs")[i], test_case.tolerance).close);
    }
  }
}

}  // namespace
}  // namespace lab::a5
