#include "common/checks/expected_log_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "common/base/machine_limits.h"
#include "common/checks/lab_main.h"
#include "common/cli/app.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/run_in_child.h"
#include "common/log/expected_run.h"
#include "common/tensor/compute_threads.h"

namespace lab {
namespace {

constexpr int kMostRanks = 64;
constexpr const char* kCommand = "expected-log";

/// The command line without this command: "modules --only conv2d".
std::string make_options(const cli::App& app) {
  std::string options;
  for (const std::string& word : app.arguments()) {
    if (word != kCommand) options += (options.empty() ? "" : " ") + word;
  }
  return options;
}

/// The lines on this number of ranks. In a process of its own: a program is prepared for one run only.
log::ExpectedRun run_on(int num_ranks, const std::string& options, const LabProgram& program,
                        const cli::CommonOptions& common) {
  const launch::MemoryFile file("expected log");
  launch::run_in_child(fmt::format("the expected log of {} ranks", num_ranks), [&] {
    if (program.validate) program.validate(num_ranks);
    if (program.prepare) program.prepare(common, num_ranks, 0);
    const log::LogExpectation expectation = make_expectation(program.steps(), num_ranks, common.world);
    write_fully(file.fd(), log::to_text(log::expected_run(options, expectation)));
  });
  return log::expected_runs(launch::view_bytes(file.fd()), program.name).at(0);
}

}  // namespace

ExitCode print_expected_log(const cli::App& app, const LabProgram& program, const cli::CommonOptions& common) {
  use_threads(1);  // there must be no thread pool before a fork
  const std::string options = make_options(app);
  log::ExpectedRun all{options, {}, {}};
  std::string refusal;
  for (int num_ranks = 1; num_ranks <= kMostRanks; ++num_ranks) {
    try {
      log::merge(all, run_on(num_ranks, options, program, common));
    } catch (const UsageError& error) {  // the lab does not run on this number of ranks
      refusal = error.what();
    }
  }
  if (all.sizes.empty()) throw UsageError(refusal);
  print_to(1, log::to_text(all));
  return ExitCode::kAllMatch;
}

}  // namespace lab
