#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "a9_collectives/calls/catalogue.h"
#include "common/base/subprocess.h"
#include "common/plot/plot_chart.h"

namespace lab::a9 {

/// What no collective of processes can do without: each rank writes the bytes that it must get once. It has a row at
/// each size, by which the copies' part in all others can be read off.
constexpr const char* kCopies = "copies alone";

/// One line of the benchmark's table: one algorithm of one collective at one size.
struct BenchRow {
  std::string collective;
  std::string algorithm;  ///< or a peer: "gloo", "mpi tcp", "mpi shared memory", "python"; or kCopies
  bool selected = false;  ///< what the student's function picks
  std::string transport;  ///< "gloo", "shm", "auto"; empty: a peer
  std::int64_t bytes = 0;
  int ranks = 0;
  double min_seconds = 0, median_seconds = 0, max_seconds = 0;  ///< of one call among several, one after the other
  double switches = 0;           ///< of context, in one call among several, on the rank that has most: the median
  double alone_seconds = 0;      ///< of one call alone, after a barrier, until its last rank has returned: the median
  double bus_factor = 1;         ///< busbw over algbw
  std::uint64_t messages = 0;    ///< sent by the rank that sends most; 0 for a peer: not counted
  std::uint64_t bytes_sent = 0;  ///< by the rank that sends most
  std::uint64_t rounds = 0;
  std::int64_t wrong = 0;          ///< elements that differ from the exact result, over all ranks
  double ratio_to_gloo = 0;        ///< of the medians; 0: no such peer
  double ratio_to_mpi = 0;         ///< Open MPI over TCP
  double ratio_to_mpi_shared = 0;  ///< Open MPI over shared memory

  bool is_peer() const { return transport.empty(); }
  double algbw() const { return static_cast<double>(bytes) / median_seconds / 1e9; }  ///< GB/s
  double busbw() const { return algbw() * bus_factor; }
};

/// The bytes that a rank must get from others in one call, if all share the work evenly: a broadcast's source none.
/// Inputs    bytes: as in BenchRow
std::int64_t bytes_to_get(const Collective& collective, std::int64_t bytes, int rank, int size);

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
  int num_cells = 0;   ///< collective and size
  int num_slower = 0;  ///< of these, where the peer is quicker
  double geometric_mean = 0;
  BenchRow worst;
};

/// How long a row took, as a part of another one's time; 0: unknown.
using RatioOf = std::function<double(const BenchRow& row)>;

/// Over the selected rows in the band whose ratio is known.
RatioSummary summarise(const std::vector<BenchRow>& rows, const RatioOf& ratio, const SizeBand& band);

/// A line for each peer and band of sizes with a cell, and one for each peer's broadcast of one call alone: behind each
/// other, calls hide how late the last rank is.
std::vector<std::string> summary_lines(const std::vector<BenchRow>& rows);

/// The tables of choose_...(), as C++ to put there: of each collective, for each number of ranks, the quickest algorithm
/// up to each size. Another one counts as quicker only if it saves a tenth, so that chance decides nothing. Rows for the
/// same are those of several transports: the product of their times counts.
/// Errors    UsageError: an algorithm was not measured at all sizes of the others
std::string choice_tables(const std::vector<BenchRow>& rows);

std::string bench_header();
std::string bench_line(const BenchRow& row);
std::string bench_json(const std::vector<BenchRow>& rows);
/// Parses the output of bench_json(), which is how rows get from the ranks' processes to the launcher.
std::vector<BenchRow> rows_of_json(const std::string& text);

/// Sets the ratio of all of one size's rows that are not a peer's to this peer, if it is among them.
void set_ratios(std::vector<BenchRow>& rows, const std::string& peer, double BenchRow::*ratio);

// Peers in processes of their own: Open MPI's ranks (common/bench/mpi_peer.cpp), and Python's (common/bench/a9_handout.py).

struct Peer {
  std::string name;                   ///< "mpi tcp", the algorithm's name in its rows
  double BenchRow::*ratio = nullptr;  ///< to this peer, if the table has a column for it
  /// The programs that start the twins of all ranks, which listen in this folder: rank r starts the r-th, if any.
  std::function<std::vector<ProcessSpec>(int num_ranks, const std::string& folder)> programs;
};

/// The peers that work on this machine, each tried once, with a line for each: its library, or why it is left out.
struct UsablePeers {
  std::vector<Peer> peers;
  std::vector<std::string> lines;
};
UsablePeers usable_peers(int num_ranks, bool no_mpi, bool no_python);

}  // namespace lab::a9
