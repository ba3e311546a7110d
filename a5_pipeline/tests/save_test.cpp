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

// What --save writes is enough to recompute the results without this project's code.
namespace lab::a5 {
namespace {

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
