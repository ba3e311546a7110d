#include "a4_data_tensor/cases/cases.h"
#include "common/api/partition.h"
#include "common/testing/test.h"

// A judged rank is sent its own part of a case's inputs: computing everything by itself is then not possible.
namespace lab::a4 {
namespace {

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

}  // namespace
}  // namespace lab::a4
