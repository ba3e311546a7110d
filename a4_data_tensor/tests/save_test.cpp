#include <cstdlib>
#include <string>

#include "common/api/compare.h"
#include "common/base/subprocess.h"
#include "common/tensor/files/safetensors.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// What --save writes is enough to recompute the compared results without this suite.
namespace lab::a4 {
namespace {

TensorMap saved_by_rank(const std::string& folder, int rank) {
  return load_safetensors(folder + "/rank" + std::to_string(rank) + ".safetensors");
}

TEST_CASE("--save: inputs and weights alone give the results") {
  const char* bin = std::getenv("LAB_BIN_DIR");
  if (bin == nullptr) {
    MESSAGE("skipped: LAB_BIN_DIR does not name the folder of the programs");
    return;
  }
  const testing::TemporaryFolder folder;
  ProcessSpec command;
  command.argv = {
      std::string(bin) + "/a4_data_tensor", "--nproc", "2", "--seed", "7", "--quiet", "--save", folder.file("s")};
  REQUIRE(run_program(command).well());
  for (const int rank : {0, 1}) {
    CAPTURE(rank);
    const TensorMap saved = saved_by_rank(folder.file("s"), rank);
    for (const char* name : {"DataParallel", "FullColumnParallel"}) {
      const std::string prefix(name);
      const at::Tensor x = saved.at(prefix + ".input.inputs");
      const at::Tensor weight = saved.at(prefix + ".weight.W");
      const at::Tensor error = at::matmul(x, weight) - saved.at(prefix + ".input.targets");
      const at::Tensor updated = weight - 0.5 * 2.0 / static_cast<double>(error.numel()) * at::matmul(x.t(), error);
      CHECK(compare(saved.at(prefix + ".actual.W"), updated).close);
      CHECK(compare(saved.at(prefix + ".expected.W"), updated).close);
      CHECK_FALSE(compare(weight, updated).close);
    }
    const at::Tensor grad = at::matmul(saved.at("InputGrad.input.grad_out"), saved.at("InputGrad.weight.W").t());
    CHECK(at::equal(saved.at("InputGrad.actual.x.grad"), grad));
  }
  const TensorMap first = saved_by_rank(folder.file("s"), 0);
  CHECK(first.count("Baseline.actual.initial") == 1);
  CHECK(first.count("Baseline.actual.updated") == 1);
  CHECK(first.count("Accumulation.actual.W") == 1);
  CHECK(at::equal(first.at("Baseline.actual.initial"), first.at("Baseline.weight.W")));
}

}  // namespace
}  // namespace lab::a4
