#include "common/checks/lab_main.h"
#include "common/cli/app.h"
#include "common/comm/lone_work.h"
#include "common/tensor/memory_meter.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/commands/markdown_log.h"
#include "vae_sequence_parallel/commands/reconstruct.h"

namespace lab::vae {
namespace {

/// The options of a run.
struct Lab {
  StepOptions steps;
  std::string only;  ///< of `modules`
};

void write_log(const CommonOptions& common, const RunReport& report) {
  add_to_log(common.out_dir, markdown_log(report));
}

void finish(StepOptions& steps, const CommonOptions& common) {
  steps.seed = common.seed;
  steps.out_dir = common.out_dir;
}

/// encode and baseline on rank 0, while the others wait.
void run_serial_steps(RankRun& run, const StepOptions& steps) {
  std::function<void(const ReportProgress&)> work;
  if (run.comm.rank() == 0) {
    work = [&](const ReportProgress& report) {
      const UnchargedScope no_part_of_the_ranks_peak;
      require_width(latent_width(steps), run.comm.size());
      encode_step(steps, report);
      baseline_step(steps, report);
    };
  }
  work_while_others_wait(run.comm.collectives(), work);
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
  LabProgram program = program_of("vae_sequence_parallel modules", "Compares each parallel module to its serial one.");
  program.add_options = [&](App& app) {
    app.add_choice("--only", lab.only, module_tags(), "checks of one kind of module; default: all");
  };
  program.steps = [&] { return modules_steps(lab.only); };
  program.calls = calls();
  return static_cast<ExitCode>(lab_main(argc, argv, program));
}

ExitCode test_command(int argc, char** argv) {
  Lab lab;
  LabProgram program =
      program_of("vae_sequence_parallel test", "Decodes the latent on all ranks, compares it with the baseline.");
  program.add_options = [&](App& app) { add_step_options(app, lab.steps); };
  program.prepare = [&](const CommonOptions& common, int, int) { finish(lab.steps, common); };
  program.steps = [&] { return test_steps([&](RankRun& run) { reconstruct(run, lab.steps); }); };
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
  program.prepare = [&](const CommonOptions& common, int, int) { vae::finish(lab.steps, common); };
  program.steps = [&] {
    return vae::program_steps([&](RankRun& run) { vae::run_serial_steps(run, lab.steps); },
                              [&](RankRun& run) { vae::reconstruct(run, lab.steps); });
  };
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
