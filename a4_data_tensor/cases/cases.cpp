#include "a4_data_tensor/cases/cases.h"

#include "common/api/compare.h"

namespace lab::a4 {
namespace {

constexpr double kMaxDiff = 1e-6;  // of a right step's True lines

constexpr const char* kBaselineText =
    "Compute the updated matrix which should be different from the initial weight matrix.";
constexpr const char* kFurtherText =
    "Beyond the handout: the update by hand, exact data, gradients of the input, bias, row parallel, column and row.";

/// The handout's first comparison: the weight before and after the update, which must differ.
LabStep update_step(const Case& baseline) {
  LabStep step;
  step.run = [baseline](RankRun& run) {
    if (run.comm.rank() != 0) return;
    run.print(kBaselineText);
    const CaseResult result = run_case(baseline, run.calls, run.comm, run.options.seed, run.device);
    run.save(baseline, result);
    const Comparison moved = compare(result.record.results.at("initial"), result.record.results.at("updated"));
    run.out.match({baseline.prefix, 0, moved.close, moved.max_diff, moved.mean_diff}, log::Expect::kDiffer);
  };
  step.expect = [baseline](log::LogExpectation& log) {
    log.add(0, log::rank_text(kBaselineText));
    // Does not depend on the number of ranks, nor on the BLAS kernel: the figures of the handout's Python code.
    log.add(0, log::ExpectedMatch{baseline.prefix, false, 0, "1.193051e-01", "3.029096e-02"});
  };
  return step;
}

}  // namespace

std::vector<Case> all_cases(const LabSizes& sizes) {
  std::vector<Case> all = handout_cases(sizes);
  for (const std::vector<Case>& more : {further_cases(sizes), unprinted_cases()}) {
    for (const Case& test_case : more) all.push_back(test_case);
  }
  return all;
}

std::vector<Case> all_cases() {
  return all_cases(LabSizes());
}

std::vector<LabStep> program_steps(const LabSizes& sizes) {
  const std::vector<Case> handout = handout_cases(sizes);
  Case by_hand = handout[0];
  by_hand.prefix = "SingleStep";
  return {announcement(), update_step(handout[0]),
          checks({{"Compute the updated weight using batch accumulation. They should match.", {handout[1]}},
                  {"Compute the updated weight using data parallelism.", {handout[2]}},
                  {"Compute the updated weight using tensor parallelism (FullColumnParallelLinear).", {handout[3]}}},
                 kMaxDiff),
          done(), checks({{kFurtherText, {by_hand}}, {"", further_cases(sizes)}}, kMaxDiff)};
}

log::LogExpectation expected_log(int num_ranks) {
  return make_expectation(program_steps({}), num_ranks);
}

GradedLab graded_lab() {
  return {all_cases, expected_log, {{4, 3, 2}, {1, 6, 8}}};  // the handout's sizes divide by all but 3 and 6
}

}  // namespace lab::a4
