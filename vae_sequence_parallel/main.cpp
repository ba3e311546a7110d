#include <fmt/format.h>

#include "common/lab/lab_main.h"
#include "common/launch/run_in_child.h"
#include "common/report/app.h"
#include "common/report/atomic_file.h"
#include "common/report/folder.h"
#include "vae_sequence_parallel/calls.h"
#include "vae_sequence_parallel/cases.h"
#include "vae_sequence_parallel/checkpoint_commands.h"
#include "vae_sequence_parallel/log.h"
#include "vae_sequence_parallel/markdown_log.h"
#include "vae_sequence_parallel/measure_commands.h"
#include "vae_sequence_parallel/reconstruct.h"
#include "vae_sequence_parallel/step_commands.h"

namespace lab::vae {
namespace {

/// The lab's name as a command of its own, and what it is told.
struct Lab {
  StepOptions steps;
  std::string only;  ///< of `modules`
};

void write_log(const CommonOptions& common, const RunReport& report) {
  make_folder("--out", common.out_dir);
  write_file_atomically(common.out_dir + "/vae_log.md", markdown_log(report));
}

void finish(StepOptions& steps, const CommonOptions& common) {
  steps.seed = common.seed;
  steps.out_dir = common.out_dir;
}

/// encode and baseline in a process of their own: ranks are forked from this one, which must not work with tensors.
void run_serial_steps(const StepOptions& steps, int num_ranks) {
  run_in_child("encode and baseline", [&] {
    require_width(latent_width(steps), num_ranks);
    encode_step(steps);
    baseline_step(steps);
  });
}

LabProgram program_of(const std::string& name, const std::string& description) {
  LabProgram program;
  program.name = name;
  program.description = description;
  program.after = write_log;
  program.defaults.seed = StepOptions().seed;
  return program;
}

ExitCode modules_command(int argc, char** argv) {
  Lab lab;
  LabProgram program = program_of("vae_sequence_parallel modules", "Each parallel module beside its serial one.");
  program.add_options = [&](App& app) {
    app.add_choice("--only", lab.only, module_tags(), "the checks of one kind of module; all where left out");
  };
  program.body = [&](RankRun& run) {
    run.announce();
    run_sections(run, sections(lab.only), calls());
    run.out.sentence(run.comm.rank(), "done");
  };
  program.expected_log = expected_modules_log;
  return static_cast<ExitCode>(lab_main(argc, argv, program));
}

ExitCode test_command(int argc, char** argv) {
  Lab lab;
  LabProgram program =
      program_of("vae_sequence_parallel test", "Decodes the latent on all ranks together, beside the baseline.");
  program.add_options = [&](App& app) { add_step_options(app, lab.steps); };
  program.prepare = [&](const CommonOptions& common, int num_ranks, int rank) {
    finish(lab.steps, common);
    if (rank == 0) run_in_child("the files", [&] { check_steps(lab.steps, num_ranks); });
  };
  program.body = [&](RankRun& run) {
    run.announce();
    reconstruct(run, lab.steps);
    run.out.sentence(run.comm.rank(), "done");
  };
  program.expected_log = expected_test_log;
  return static_cast<ExitCode>(lab_main(argc, argv, program));
}

}  // namespace
}  // namespace lab::vae

int main(int argc, char** argv) {
  using namespace lab;
  vae::Lab lab;
  LabProgram program =
      vae::program_of("vae_sequence_parallel",
                      "A VAE's decoder on a picture that is split along its width. Runs encode, baseline, modules and "
                      "test, one after the other.");
  program.add_options = [&](App& app) { vae::add_step_options(app, lab.steps); };
  program.prepare = [&](const CommonOptions& common, int num_ranks, int rank) {
    vae::finish(lab.steps, common);
    if (rank == 0) vae::run_serial_steps(lab.steps, num_ranks);
  };
  program.body = [&](RankRun& run) {
    run.announce();
    run_sections(run, vae::sections(), vae::calls());
    if (run.only.empty()) vae::reconstruct(run, lab.steps);
    run.out.sentence(run.comm.rank(), "done");
  };
  program.expected_log = vae::expected_log;
  program.cases = vae::all_cases();
  program.calls = vae::calls();
  program.commands = {{"encode", "encode [--image FILE]", vae::encode_command},
                      {"baseline", "baseline", vae::baseline_command},
                      {"test", "test [--nproc P]", vae::test_command},
                      {"modules", "modules [--only KIND]", vae::modules_command},
                      {"compare", "compare (two pictures)", vae::compare_command},
                      {"memory", "memory [--size N] (what a rank holds)", vae::memory_command},
                      {"bench", "bench [--nproc P]", vae::bench_command},
                      {"train", "train (a small checkpoint)", vae::train_command},
                      {"init", "init --config flux (a seeded one)", vae::init_command}};
  return lab_main(argc, argv, program);
}
