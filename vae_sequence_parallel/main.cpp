#include <fmt/format.h>

#include "common/checks/lab_main.h"
#include "common/cli/app.h"
#include "common/comm/lone_work.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/commands/markdown_log.h"

namespace lab::vae {
namespace {

/// The options of a run.
struct Lab {
  StepOptions steps;
  std::string only;  ///< of `modules`
};

void write_log(const cli::CommonOptions& common, const log::RunReport& report) {
  add_to_log(common.out_dir, markdown_log(report));
}

void finish(StepOptions& steps, const cli::CommonOptions& common) {
  steps.seed = common.seed;
  steps.out_dir = common.out_dir;
}

/// encode and baseline on rank 0, while the others wait.
void run_serial_steps(RankRun& run, const StepOptions& steps) {
  std::function<void(const comm::ReportProgress&)> work;
  if (run.comm.rank() == 0) {
    work = [&](const comm::ReportProgress& report) {
      const UnchargedScope no_part_of_the_ranks_peak;
      const UncountedWork no_part_of_the_ranks_work;
      require_width(latent_width(steps), run.comm.size());
      encode_step(steps, report);
      baseline_step(steps, report);
    };
  }
  comm::work_while_others_wait(run.comm.collectives(), work);
}

LabProgram make_program(const std::string& name) {
  LabProgram program;
  program.name = name;
  program.after = write_log;
  program.defaults.seed = StepOptions().seed;
  return program;
}

void modules_command(cli::App& app) {
  auto& lab = app.own(Lab());
  auto& program = app.own(make_program("vae_sequence_parallel modules"));
  program.add_options = [&](cli::App& options) {
    options.add_choice("--only", lab.only, module_tags(), "checks of one kind of module; default: all");
  };
  program.prepare = [&lab](const cli::CommonOptions&, int num_ranks, int) { require_columns(lab.only, num_ranks); };
  program.steps = [&lab] { return modules_steps(lab.only); };
  program.calls = calls();
  add_lab(app, program);
}

void test_command(cli::App& app) {
  auto& lab = app.own(Lab());
  auto& program = app.own(make_program("vae_sequence_parallel test"));
  program.add_options = [&](cli::App& options) {
    add_step_options(options, lab.steps);
    add_memory_limit(options, lab.steps);
  };
  program.prepare = [&](const cli::CommonOptions& common, int, int) {
    if (lab.steps.memory_limit_mb > 0 && common.device != "cpu")
      throw UsageError(
          fmt::format("--memory-limit: expected --device cpu, got {}: a GPU's tensors are not limited", common.device));
    finish(lab.steps, common);
  };
  program.steps = [&lab] { return test_steps([&lab](RankRun& run) { reconstruct(run, lab.steps); }); };
  add_lab(app, program);
}

}  // namespace
}  // namespace lab::vae

int main(int argc, char** argv) {
  using namespace lab;
  vae::Lab lab;
  LabProgram program = vae::make_program("vae_sequence_parallel");
  program.description =
      "A VAE's decoder on a picture that is split along its width. Runs encode, baseline, modules and test, one after "
      "the other.";
  program.add_options = [&](cli::App& app) { vae::add_step_options(app, lab.steps); };
  program.prepare = [&](const cli::CommonOptions& common, int num_ranks, int) {
    vae::require_columns("", num_ranks);
    vae::finish(lab.steps, common);
  };
  program.steps = [&] {
    return vae::program_steps([&](RankRun& run) { vae::run_serial_steps(run, lab.steps); },
                              [&](RankRun& run) { vae::reconstruct(run, lab.steps); });
  };
  program.cases = vae::all_cases;
  program.calls = vae::calls();
  program.commands = {{"encode", "encodes a picture to a latent, in one process", vae::encode_command},
                      {"baseline", "decodes the latent in one process", vae::baseline_command},
                      {"test", "decodes the latent on all ranks, and compares", vae::test_command},
                      {"modules", "compares each parallel module to its serial one", vae::modules_command},
                      {"compare", "says and draws how much two pictures differ", vae::compare_command},
                      {"memory", "measures what a rank holds while it decodes", vae::memory_command},
                      {"train", "makes the lab's checkpoint (checkpoint/README.md)", vae::train_command},
                      {"init", "writes an untrained checkpoint", vae::init_command}};
  return lab_main(argc, argv, program);
}
