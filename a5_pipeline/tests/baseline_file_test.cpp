#include "a5_pipeline/commands/baseline_file.h"

#include <cstdlib>

#include "a5_pipeline/baseline.h"
#include "common/api/errors.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// The baseline, which runs alone, reports progress and leaves its results in a file.
namespace lab::a5 {
namespace {

/// Sets $TMPDIR for as long as this lives.
class TmpdirIs {
 public:
  explicit TmpdirIs(const std::string& path) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TmpdirIs() {
    if (before_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

PipelineArguments three_layers() {
  PipelineArguments arguments;
  arguments.sequence_length = 3;
  arguments.hidden_size = 16;
  arguments.intermediate_size = 40;
  arguments.number_of_layers = 3;
  return arguments;
}

TEST_CASE("a baseline without a signal is refused, because a comparison with it would prove nothing") {
  const testing::TemporaryFolder folder;
  const TmpdirIs tmpdir(folder.file("."));
  // One token of one number: where a layer's only weight is negative, ReLU lets nothing through.
  PipelineArguments arguments = three_layers();
  arguments.hidden_size = arguments.intermediate_size = 1;
  arguments.number_of_layers = 12;
  arguments.activation = Activation::kRelu;
  CHECK_THROWS_WITH_AS(run_baseline(arguments),
                       "the baseline's output 0 has norm 0; expected one above 0, without which a comparison proves "
                       "nothing; hint: another --seed or --dtype",
                       ContractError);
  CHECK(folder.num_files() == 0);
}

TEST_CASE("a folder that cannot be written is a usage error") {
  const TmpdirIs tmpdir("/nonexistent/folder");
  CHECK_THROWS_AS(run_baseline(three_layers()), UsageError);
}

TEST_CASE("run_baseline reports progress for each layer made, and for each pass of each micro-batch through it") {
  const PipelineArguments arguments = three_layers();
  int num_reports = 0;
  run_baseline(arguments, [&] { ++num_reports; });
  CHECK(num_reports == 3 * (1 + 2 * 8));
}

TEST_CASE("what the baseline holds is not charged to the rank that runs it") {
  install_memory_meter();
  const MemoryScope scope;
  run_baseline(three_layers());
  CHECK(scope.reading().peak_bytes == 0);
}

TEST_CASE("run_baseline gives the baseline's tensors to the bit, and leaves no file behind") {
  const testing::TemporaryFolder folder;
  const TmpdirIs tmpdir(folder.file("."));
  const PipelineArguments in_float32 = three_layers();
  PipelineArguments in_float64 = three_layers();
  in_float64.dtype = at::kDouble;
  const BaselineFile files[] = {run_baseline(in_float32), run_baseline(in_float64)};
  CHECK(folder.num_files() == 0);

  for (const PipelineArguments& arguments : {in_float32, in_float64}) {
    const BaselineFile& found = files[arguments.dtype == at::kDouble ? 1 : 0];
    const Model model(arguments, all_layers(arguments));
    DataLoader data(arguments);
    const std::vector<at::Tensor> outputs = baseline_forward_backward(model, data, arguments);
    CHECK(outputs.size() == 8);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      CHECK(at::equal(found.read("output" + std::to_string(i)), outputs[i]));
    for (const auto& [name, gradient] : model.gradients()) {
      CAPTURE(name);
      CHECK(at::equal(found.read(name), gradient));
    }
    CHECK_THROWS_WITH_AS(found.read("layer3.fc1"), "the baseline has no tensor 'layer3.fc1'", ContractError);
  }
}

}  // namespace
}  // namespace lab::a5
