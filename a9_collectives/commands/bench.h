#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "a9_collectives/cases/catalogue.h"
#include "common/plot/plot_chart.h"

namespace lab::a9 {

/// One line of the benchmark's table: one algorithm of one collective at one size.
struct BenchRow {
  std::string collective;
  std::string algorithm;  ///< or a peer: "gloo", "mpi tcp", "mpi shared memory"
  bool selected = false;  ///< what the student's function picks
  std::int64_t bytes = 0;
  int ranks = 0;
  double min_seconds = 0, median_seconds = 0, max_seconds = 0;
  double bus_factor = 1;         ///< busbw over algbw
  std::uint64_t messages = 0;    ///< sent by the rank that sends most; 0 for a peer: not counted
  std::uint64_t bytes_sent = 0;  ///< by the rank that sends most
  std::uint64_t rounds = 0;
  std::int64_t wrong = 0;          ///< elements that differ from the exact result, over all ranks
  double ratio_to_gloo = 0;        ///< of the medians; 0: no such peer
  double ratio_to_mpi = 0;         ///< Open MPI over TCP
  double ratio_to_mpi_shared = 0;  ///< Open MPI over shared memory

  bool is_peer() const { return rounds == 0 && messages == 0; }
  double algbw() const { return static_cast<double>(bytes) / median_seconds / 1e9; }  ///< GB/s
  double busbw() const { return algbw() * bus_factor; }
};

/// Bus bandwidth against size of one collective's rows: a line for what the student's function picks, a dashed one per
/// peer, and a mark at each size where another algorithm takes over.
/// Errors    UsageError: no rows
plot::Chart bench_chart(const std::vector<BenchRow>& rows);

/// The chart's file where there are several: the collective's name goes before the extension.
/// Example   "out/bench.png": "out/bench_allreduce.png"
std::string chart_file(const std::string& plot_file, const std::string& collective);

/// Sizes of a summary, both ends included. A size that was rounded down to whole elements per rank counts as the
/// size before rounding.
struct SizeBand {
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
};

/// How the selected algorithms compare with one peer.
struct RatioSummary {
  int num_cells = 0;  ///< collective and size
  double geometric_mean = 0;
  BenchRow worst;
};

/// Over the selected rows in the band whose ratio is known.
RatioSummary summarise(const std::vector<BenchRow>& rows, double BenchRow::*ratio, const SizeBand& band);

/// A line per peer and band with a cell: Gloo at all sizes; Open MPI over TCP from 256 KiB to 4 MiB and at 64 MiB.
std::vector<std::string> summary_lines(const std::vector<BenchRow>& rows);

std::string bench_header();
std::string bench_line(const BenchRow& row);
std::string bench_json(const std::vector<BenchRow>& rows);
/// Parses the output of bench_json(), which is how rows get from the ranks' processes to the launcher.
std::vector<BenchRow> rows_of_json(const std::string& text);

/// Inserts each row of a peer, of the same collective, after the last row of its size, and sets the ratio of our rows
/// of that size. A peer's row is left out if there are no rows of its size.
void add_peer_rows(std::vector<BenchRow>& rows, const std::vector<BenchRow>& peers, double BenchRow::*ratio);

// Open MPI as a peer: its own processes, started by mpirun, which measure the same way (common/bench/mpi_peer.cpp).

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
