#include <fmt/format.h>

#include "a4_data_tensor/cases/calls.h"
#include "a4_data_tensor/cases/cases.h"
#include "a4_data_tensor/cases/log.h"
#include "common/checks/lab_main.h"
#include "common/cli/app.h"
#include "common/tensor/compare.h"
#include "common/tensor/partition.h"

namespace lab::a4 {
namespace {

/// The handout's first comparison: the weight before and after the update, which must differ.
void show_update(RankRun& run, const CaseResult& baseline) {
  const Comparison moved = compare(baseline.actual.at("initial"), baseline.actual.at("updated"));
  run.out.match({"", 0, moved.close, moved.max_diff, moved.mean_diff}, Expect::kDiffer);
}

/// The whole log: the handout's lines, then what its checks miss.
void run_all(RankRun& run, const LabSizes& sizes) {
  const CallTable table = calls();
  const bool first = run.comm.rank() == 0;
  const std::vector<Case> handout = handout_cases(sizes);
  const char* messages[] = {kBaselineText, kAccumulationText, kDataParallelText, kColumnParallelText};

  run.announce();
  CaseResult baseline;
  for (std::size_t i = 0; i < handout.size(); ++i) {
    if (first) run.out.text(0, messages[i]);
    if (!is_asked(handout[i], run.comm.rank())) continue;
    const CaseResult result = run_case(handout[i], table, run.comm, run.options.seed, run.device);
    if (i == 0) {
      baseline = result;
      run.save(handout[i], result);
      show_update(run, result);
    } else {
      run.report(handout[i], result);
    }
  }
  run.out.text(run.comm.rank(), "done");

  if (first) {
    run.out.text(0, kFurtherText);
    run.out.match(
        {"SingleStep", 0, baseline.comparison.close, baseline.comparison.max_diff, baseline.comparison.mean_diff});
  }
  for (const Case& test_case : further_cases(sizes)) run.check(test_case, table);
}

void run_lab(RankRun& run, const LabSizes& sizes) {
  if (run.only.empty()) return run_all(run, sizes);
  run.announce();
  for (const Case& test_case : all_cases(sizes)) {
    if (is_asked(test_case, run.comm.rank())) run.check(test_case, calls());
  }
  run.out.text(run.comm.rank(), "done");
}

void validate(const LabSizes& sizes, int num_ranks) {
  const auto must_divide = [](std::int64_t total, std::int64_t parts, const char* what, const char* hint) {
    if (total % parts == 0) return;
    throw UsageError(fmt::format("{} {} is not divisible by {} {}", what, total, parts, hint));
  };
  must_divide(sizes.step.global_batch_size, num_ranks, "the global batch size",
              "ranks; hint: choose --nproc or --global-batch-size so that it is");
  must_divide(sizes.step.output_dim, num_ranks, "the output dimension",
              "ranks; hint: choose --nproc or --output-dim so that it is");
  must_divide(sizes.step.input_dim, num_ranks, "the input dimension",
              "ranks; hint: choose --nproc or --input-dim so that it is");
  must_divide(sizes.step.global_batch_size, sizes.accumulation_steps, "the global batch size",
              "accumulation steps; hint: choose --accumulation-steps so that it is");
}

}  // namespace
}  // namespace lab::a4

int main(int argc, char** argv) {
  using namespace lab;
  a4::LabSizes sizes;
  LabProgram program;
  program.name = "a4_data_tensor";
  program.description =
      "Assignment 4: one training step by batch accumulation, data parallelism and tensor parallelism.";
  program.add_options = [&](App& app) {
    app.add_integer("--global-batch-size", sizes.step.global_batch_size, {1, 1 << 20}, "examples in the batch");
    app.add_integer("--input-dim", sizes.step.input_dim, {1, 1 << 16}, "columns of the input");
    app.add_integer("--output-dim", sizes.step.output_dim, {1, 1 << 16}, "columns of the output");
    app.add_integer("--accumulation-steps", sizes.accumulation_steps, {1, 1 << 20},
                    "micro-batches of the accumulation");
  };
  program.validate = [&](int num_ranks) { a4::validate(sizes, num_ranks); };
  program.body = [&](RankRun& run) { a4::run_lab(run, sizes); };
  program.expected_log = a4::expected_log;
  program.cases = a4::all_cases();
  program.calls = a4::calls();
  return lab_main(argc, argv, program);
}
