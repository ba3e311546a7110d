#pragma once

#include <string>
#include <vector>

#include "a9_collectives/cases/catalogue.h"
#include "a9_collectives/commands/bench_rows.h"

// Open MPI as a peer: its own processes, started by mpirun, which measure the same way (common/bench/mpi_peer.cpp).
namespace lab::a9 {

/// One way in which Open MPI's ranks talk to each other.
struct MpiWay {
  std::string name;                  ///< "mpi tcp", the algorithm's name in its rows
  std::vector<std::string> options;  ///< for mpirun
  double BenchRow::*ratio;           ///< to this peer
};

struct MpiJob {
  const Collective* collective = nullptr;
  std::vector<std::int64_t> sizes;
  int num_ranks = 0;
  int turns = 0;
  double limit_seconds = 60;
};

struct MpiOutcome {
  std::string library;  ///< "Open MPI v4.1.4"
  std::vector<BenchRow> rows;
  std::string failure;  ///< why there are no rows; empty if there are
};

/// Blocks until mpirun has ended. Its output is not shown.
/// Errors    UsageError: mpirun cannot be started
MpiOutcome run_mpi(const MpiWay& way, const MpiJob& job);

/// The ways that work on this machine, each tried once, with a line for each: its library, or why it is left out.
struct UsableMpi {
  std::vector<MpiWay> ways;
  std::vector<std::string> lines;
};
UsableMpi usable_mpi(int num_ranks);

}  // namespace lab::a9
