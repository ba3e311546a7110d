#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/launch/supervise/rank_environment.h"
#include "common/launch/supervise/rank_output.h"

namespace lab::launch {

/// labrun's command line, validated.
struct LaunchOptions {
  int num_nodes = 1;
  int num_local_ranks = 1;
  int node_rank = 0;
  std::string master_addr = "127.0.0.1";
  int master_port = 0;  ///< 0: any free one
  std::string job_id;   ///< the same on all machines of a run, if given
  RankOutputOptions output;
  double timeout_seconds = 0;
  int debug_rank = -1;
  std::vector<std::string> program;  ///< and its arguments

  int world_size() const { return num_nodes * num_local_ranks; }
  int first_rank() const { return node_rank * num_local_ranks; }
};

/// Reads torchrun's command line. Returns an exit code after --help or --version, else nothing, with `options` set.
/// Errors    UsageError
std::optional<ExitCode> read_launch_options(int argc, char** argv, LaunchOptions& options,
                                            const VariableLookup& environment = process_variable);

}  // namespace lab::launch
