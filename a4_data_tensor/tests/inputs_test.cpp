#include <cstdlib>
#include <string>

#include "a4_data_tensor/cases/cases.h"
#include "a4_data_tensor/step.h"
#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/base/subprocess.h"
#include "common/tensor/files/safetensors.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace lab::a4 {
namespace {

TEST_CASE("create_batch: the handout's numbers, inputs before targets from one stream") {
  at::manual_seed(42);
  const at::Tensor inputs = at::randn({128, 64});
  const at::Tensor targets = at::randn({128, 32});
  const Batch batch = create_batch({});
  CHECK(at::equal(batch.inputs, inputs));
  CHECK(at::equal(batch.targets, targets));
}

TEST_CASE("create_batch: the same on every call, another with another seed") {
  const StepOptions options = {4, 8, 2, 0.5, /*seed=*/1}, other = {4, 8, 2, 0.5, /*seed=*/2};
  CHECK(at::equal(create_batch(options).inputs, create_batch(options).inputs));
  CHECK_FALSE(at::equal(create_batch(options).inputs, create_batch(other).inputs));
}

TEST_CASE("create_batch: an empty batch is valid, a negative size is not") {
  CHECK(create_batch({0, 3, 2}).targets.sizes() == at::IntArrayRef({0, 2}));
  CHECK_THROWS_WITH_AS(create_batch({-1, 3, 2}),
                       "A batch of -1 samples with 3 inputs and 2 outputs: no size may be negative.", ContractError);
}

// A judged rank is sent its own part of a case's inputs: computing everything by itself is then not possible.

constexpr int kRanks = 4;
constexpr std::uint64_t kSeed = 99;

const Case& case_named(const std::vector<Case>& cases, std::string_view name) {
  for (const Case& test_case : cases) {
    if (test_case.name == name) return test_case;
  }
  throw UsageError("no case " + std::string(name));
}

/// Whether the input has this rank's part along a dimension and NaN elsewhere.
bool is_own_part(const Case& test_case, int rank, const std::string& name, std::int64_t dim) {
  const CasePlace place{rank, kRanks, kSeed};
  const at::Tensor all = test_case.inputs(place).tensor(name), sent = judged_inputs(test_case, place).tensor(name);
  const Slice own = even_slice(all.size(dim), kRanks, rank);
  return sent.sizes() == all.sizes() &&
         at::equal(sent.narrow(dim, own.begin, own.size), all.narrow(dim, own.begin, own.size)) &&
         sent.isnan().sum().item<std::int64_t>() == all.numel() - all.numel() / kRanks;
}

bool is_whole(const Case& test_case, int rank, const std::string& name) {
  const CasePlace place{rank, kRanks, kSeed};
  return at::equal(judged_inputs(test_case, place).tensor(name), test_case.inputs(place).tensor(name));
}

TEST_CASE("judged: each rank is sent the rows or columns that it works on, with NaN for the others'") {
  const std::vector<Case> cases = all_cases();
  for (int rank = 0; rank < kRanks; ++rank) {
    CAPTURE(rank);
    const Case& rows = case_named(cases, "DataParallel");
    CHECK(is_own_part(rows, rank, "input.inputs", 0));
    CHECK(is_own_part(rows, rank, "input.targets", 0));
    CHECK(is_whole(rows, rank, "weight.W"));
    const Case& columns = case_named(cases, "FullColumnParallel");
    CHECK(is_own_part(columns, rank, "weight.W", 1));
    CHECK(is_whole(columns, rank, "input.inputs"));
    CHECK(is_whole(columns, rank, "input.targets"));
    CHECK(is_own_part(case_named(cases, "InputGrad"), rank, "weight.W", 1));
    CHECK(is_own_part(case_named(cases, "Bias"), rank, "weight.W", 1));
    CHECK(is_own_part(case_named(cases, "Bias"), rank, "weight.bias", 0));
    const Case& row = case_named(cases, "RowParallel");
    CHECK(is_own_part(row, rank, "weight.W", 0));
    CHECK(judged_inputs(row, {rank, kRanks, kSeed}).tensors.count("input.x") == 0);
    const Case& pair = case_named(cases, "ColumnRow");
    CHECK(is_own_part(pair, rank, "weight.W1", 1));
    CHECK(is_own_part(pair, rank, "weight.W2", 0));
  }
  for (const char* name : {"Baseline", "Accumulation"}) {
    for (const char* input : {"input.inputs", "input.targets", "weight.W"})
      CHECK(is_whole(case_named(cases, name), 0, input));
  }
}

TEST_CASE("judged: sizes that do not divide are the task's to refuse, not the drawing's") {
  for (const Case& test_case : handout_cases({})) CHECK_NOTHROW(judged_inputs(test_case, {2, 3, kSeed}));
}

// What --save writes is enough to recompute the compared results without this suite.

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
