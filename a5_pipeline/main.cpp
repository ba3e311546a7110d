#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/commands/baseline_file.h"
#include "a5_pipeline/commands/commands.h"
#include "a5_pipeline/commands/main_comparison.h"
#include "a5_pipeline/commands/schedules.h"
#include "common/api/shapes.h"
#include "common/checks/lab_main.h"
#include "common/cli/app.h"
#include "common/pipeline/generators.h"

namespace lab::a5 {
namespace {

void add_options(cli::App& app, LabOptions& options) {
  PipelineArguments& arguments = options.arguments;
  app.add_integer("--global-batch-size", arguments.global_batch_size, {1, 1 << 20}, "sequences in the batch");
  app.add_integer("--micro-batch-size", arguments.micro_batch_size, {1, 1 << 20}, "sequences in a micro-batch");
  app.add_integer("--sequence-length", arguments.sequence_length, {1, 1 << 20}, "tokens in a sequence");
  app.add_integer("--hidden-size", arguments.hidden_size, {1, 1 << 20}, "width between layers");
  app.add_integer("--intermediate-size", arguments.intermediate_size, {1, 1 << 20}, "width inside a layer");
  app.add_integer("--number-of-layers", arguments.number_of_layers, {1, 1 << 16}, "layers of the model");
  app.add_choice("--dtype", options.dtype, {"float32", "float64", "bfloat16"}, "of weights, activations and gradients");
  app.add_choice("--activation", options.activation, {"tanh", "relu"},
                 "between a layer's products; relu: the handout's");
  app.add_choice("--schedule", options.schedule, pipeline::schedule_kinds(), "order of work");
  app.add_flag("--no-cases", options.no_cases, "leave out the small cases: only the model of these sizes");
  app.add_integer("--chunks", options.num_chunks, {1, 1024}, "of layers on each rank: 2 with interleaved, otherwise 1");
}

/// Completes the model's arguments from the common options and the choices.
void finish(LabOptions& options, const cli::CommonOptions& common) {
  options.arguments.seed = common.seed;
  options.arguments.dtype = parse_dtype(options.dtype);
  options.arguments.activation = options.activation == "relu" ? Activation::kRelu : Activation::kTanh;
}

}  // namespace
}  // namespace lab::a5

int main(int argc, char** argv) {
  using namespace lab;
  a5::LabOptions options;
  a5::BaselineFile baseline;
  LabProgram program;
  program.name = "a5_pipeline";
  program.description = "Assignment 5: a model in pipeline stages, micro-batch by micro-batch, vs. the whole model.";
  program.defaults.seed = options.arguments.seed;
  program.ranks_option = "--pp";
  program.add_options = [&](cli::App& app) { a5::add_options(app, options); };
  program.prepare = [&](const cli::CommonOptions& common, int num_ranks, int) {
    a5::finish(options, common);
    a5::check_arguments(options.arguments, num_ranks);
    // Rejects what the schedule does not allow.
    a5::model_schedule(options.arguments, options.schedule, options.num_chunks, num_ranks);
  };
  program.steps = [&] { return a5::program_steps(options, baseline); };
  program.cases = a5::all_cases;
  program.calls = a5::calls();
  program.commands = {{"schedule", "draws a schedule, and says what it costs", a5::schedule_command}};
  return lab_main(argc, argv, program);
}
