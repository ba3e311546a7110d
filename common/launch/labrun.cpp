#include <fmt/format.h>

#include "common/base/files.h"
#include "common/base/random_token.h"
#include "common/base/subprocess.h"
#include "common/cli/guarded_main.h"
#include "common/launch/supervise/cores.h"
#include "common/launch/supervise/free_port.h"
#include "common/launch/supervise/launch_options.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/supervisor.h"

// The counterpart of torchrun for non-Python programs: starts a program on many ranks and watches them.
namespace lab::launch {
namespace {

std::map<std::string, std::string> environment_of_all(const LaunchOptions& options, const MemoryFile& event_memory) {
  std::map<std::string, std::string> environment = {
      {"WORLD_SIZE", std::to_string(options.world_size())},
      {"LOCAL_WORLD_SIZE", std::to_string(options.num_local_ranks)},
      {"GROUP_RANK", std::to_string(options.node_rank)},
      {"MASTER_ADDR", options.master_addr},
      {"MASTER_PORT", std::to_string(options.master_port != 0 ? options.master_port : free_port())},
      {kLauncherVariable, "labrun"},
      {kEventFileVariable, event_memory.path()},
      {kRendezvousSocketVariable, ""},
  };
  if (options.num_nodes == 1) {
    environment[kRendezvousSocketVariable] = unnamed_socket();
    environment[kTokenVariable] = random_token();
  } else if (!options.job_id.empty()) {
    environment[kTokenVariable] = options.job_id;
  }
  if (!process_variable("OMP_NUM_THREADS")) {
    environment["OMP_NUM_THREADS"] = std::to_string(threads_per_rank(options.num_local_ranks));
  }
  if (!process_variable("OMP_WAIT_POLICY")) environment["OMP_WAIT_POLICY"] = "passive";  // ranks may share cores
  return environment;
}

void start_ranks(const LaunchOptions& options, std::map<std::string, std::string> environment, RankOutput& output,
                 Supervisor& supervisor) {
  for (int local_rank = 0; local_rank < options.num_local_ranks; ++local_rank) {
    const int rank = options.first_rank() + local_rank;
    const bool debugged = rank == options.debug_rank;
    environment["RANK"] = std::to_string(rank);
    environment["LOCAL_RANK"] = std::to_string(local_rank);
    std::vector<std::string> argv = options.program;
    if (debugged) argv.insert(argv.begin(), {"gdb", "--args"});
    const RankOutput::Fds fds = debugged ? RankOutput::Fds{} : output.open(rank);
    supervisor.add({rank, exec_process(argv, environment, {debugged, fds.out, fds.err}), !debugged});
  }
}

// The reason first, then what each rank was doing, then how each ended.
void report(const SuperviseResult& result) {
  if (result.message.empty()) return;
  std::string text = fmt::format("labrun: {}\n", result.message);
  for (const std::string& line : result.rank_lines) text += fmt::format("labrun:   {}\n", line);
  for (const RankExit& rank : result.exits) text += fmt::format("labrun:   rank {} {}\n", rank.rank, rank.reason);
  write_fully(2, text);
}

ExitCode run(int argc, char** argv) {
  LaunchOptions options;
  if (auto answered = read_launch_options(argc, argv, options)) return *answered;
  if (options.master_port != 0 && options.node_rank == 0) check_port_is_free(options.master_port);

  const bool debugging = options.debug_rank >= 0;
  SupervisorOptions watch;
  watch.timeout_seconds = options.timeout_seconds;
  watch.obey_interrupt = !debugging;
  if (debugging) watch.min_stall_seconds = 0;
  const MemoryFile event_memory("events");
  RankOutput output(options.output);
  Supervisor supervisor(watch);
  using Writers = comm::EventFile::Writers;
  const auto events = comm::EventFile::create(event_memory.path(), options.world_size(),
                                              options.num_nodes == 1 ? Writers::kAllRanks : Writers::kThisMachine);

  start_ranks(options, environment_of_all(options, event_memory), output, supervisor);
  output.start();
  const SuperviseResult result = supervisor.supervise(events.get());
  output.finish();
  report(result);
  return static_cast<ExitCode>(result.exit_code);  // also codes of programs outside this suite
}

}  // namespace
}  // namespace lab::launch

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::launch::run);
}
