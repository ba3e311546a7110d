#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/subprocess.h"
#include "common/bench/machine_load.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"

// How long a whole run takes: one rank, four ranks, and the same assignment in Python under a launcher, alternating.
namespace lab {
namespace {

/// The middle value; for an even count the upper of the two.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Contender {
  std::string name;
  std::vector<std::string> command;
  std::vector<double> seconds;
};

/// Wall seconds of the command, its output discarded; negative if it did not exit with 0.
double run_once(const std::vector<std::string>& command) {
  ProcessSpec run;
  run.argv = command;
  const auto start = std::chrono::steady_clock::now();
  const bool well = run_program(run).well();
  return well ? std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() : -1;
}

std::string beside_own_program(const std::string& name) {
  return std::filesystem::path(own_program()).replace_filename(name).string();
}

/// The first command for the Python version that works on this machine. Debian 12's torchrun does not start under its
/// Python 3.11.
std::vector<std::string> python_command(const std::string& script) {
  const std::vector<std::string> launchers[] = {
      {"/usr/bin/python3", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=4", script},
      {beside_own_program("labrun"), "--standalone", "--nproc-per-node", "4", "/usr/bin/python3", script}};
  for (const auto& command : launchers) {
    if (run_once(command) >= 0) return command;
  }
  return {};
}

ExitCode run(int argc, char** argv) {
  cli::App app(
      "bench_launch",
      "Wall time of a whole run of assignment 4: one rank, four ranks, and Python under a launcher, in turns.");
  int turns = 7;
  std::string script = LAB_PYTHON_REFERENCE;
  app.add_integer("--turns", turns, {1, 100}, "runs of each; the median counts");
  app.add_text("--python-script", script, "FILE", "the same assignment in Python");
  if (const auto done = app.parse(argc, argv)) return *done;

  const std::string lab = beside_own_program("a4_data_tensor");
  std::vector<Contender> contenders = {{"1 rank", {lab, "--nproc", "1"}, {}}, {"4 ranks", {lab, "--nproc", "4"}, {}}};
  const std::vector<std::string> python = python_command(script);
  if (python.empty()) {
    fmt::print("Python is left out: /usr/bin/python3 cannot run the script; hint: apt-get install python3-torch\n");
  } else {
    contenders.push_back({"Python, 4 ranks", python, {}});
    fmt::print("Python is launched by: {} {} {} ...\n", python[0], python[1], python[2]);
  }

  const MachineLoad load;
  for (int turn = -1; turn < turns; ++turn) {  // the first turn warms the file cache
    for (Contender& contender : contenders) {
      const double seconds = run_once(contender.command);
      if (seconds < 0)
        throw Error(ExitCode::kInternal, "bench_launch: '" + contender.name + "' did not exit with code 0");
      if (turn >= 0) contender.seconds.push_back(seconds);
    }
  }
  fmt::print("{:<16} {:>10} {:>10}\n", "", "median s", "fastest s");
  for (const Contender& contender : contenders) {
    fmt::print("{:<16} {:>10.3f} {:>10.3f}\n", contender.name, median(contender.seconds),
               *std::min_element(contender.seconds.begin(), contender.seconds.end()));
  }
  fmt::print("4 ranks / 1 rank  {:.2f}\n", median(contenders[1].seconds) / median(contenders[0].seconds));
  if (contenders.size() > 2)
    fmt::print("4 ranks / Python  {:.2f}\n", median(contenders[1].seconds) / median(contenders[2].seconds));
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::run);
}
