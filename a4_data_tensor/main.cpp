#include <fmt/format.h>

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/lab_main.h"
#include "common/cli/app.h"

namespace lab::a4 {
namespace {

void must_divide(std::int64_t total, std::int64_t parts, const char* what, const char* hint) {
  if (total % parts == 0) return;
  throw UsageError(fmt::format("{} {} is not divisible by {} {}", what, total, parts, hint));
}

/// For a run of everything. Single cases, and checks, are skipped where they do not divide.
void check_ranks(const StepOptions& step, int num_ranks) {
  must_divide(step.global_batch_size, num_ranks, "the global batch size",
              "ranks; hint: choose --nproc or --global-batch-size so that it is");
  must_divide(step.output_dim, num_ranks, "the output dimension",
              "ranks; hint: choose --nproc or --output-dim so that it is");
  must_divide(step.input_dim, num_ranks, "the input dimension",
              "ranks; hint: choose --nproc or --input-dim so that it is");
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
  program.add_options = [&](cli::App& app) {
    app.add_integer("--global-batch-size", sizes.step.global_batch_size, {1, 1 << 20}, "examples in the batch");
    app.add_integer("--input-dim", sizes.step.input_dim, {1, 1 << 16}, "columns of the input");
    app.add_integer("--output-dim", sizes.step.output_dim, {1, 1 << 16}, "columns of the output");
    app.add_integer("--accumulation-steps", sizes.accumulation_steps, {1, 1 << 20},
                    "micro-batches of the accumulation");
  };
  program.validate = [&](int) {
    a4::must_divide(sizes.step.global_batch_size, sizes.accumulation_steps, "the global batch size",
                    "accumulation steps; hint: choose --accumulation-steps so that it is");
  };
  program.prepare = [&](const cli::CommonOptions&, int num_ranks, int) { a4::check_ranks(sizes.step, num_ranks); };
  program.steps = [&] { return a4::program_steps(sizes); };
  program.cases = [&] { return a4::all_cases(sizes); };
  program.sizes = a4::graded_lab().sizes;
  program.calls = a4::calls();
  return lab_main(argc, argv, program);
}
