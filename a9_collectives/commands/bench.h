#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "a9_collectives/calls/catalogue.h"
#include "common/base/json.h"

namespace lab::a9 {

/// One line of the benchmark's table: one algorithm of one collective at one size.
struct BenchRow {
  std::string collective;
  std::string algorithm;
  bool selected = false;  ///< what the student's function picks
  std::string transport;  ///< "gloo", "shm", "auto"
  std::int64_t bytes = 0;
  int ranks = 0;
  double min_seconds = 0, median_seconds = 0, max_seconds = 0;  ///< of one call among several, one after the other
  double bus_factor = 1;                                        ///< busbw over algbw
  std::uint64_t messages = 0;                                   ///< sent by the rank that sends most
  std::uint64_t bytes_sent = 0;                                 ///< by the rank that sends most
  std::uint64_t rounds = 0;
  std::int64_t wrong = 0;  ///< elements that differ from the exact result, over all ranks

  double algbw() const { return static_cast<double>(bytes) / median_seconds / 1e9; }  ///< GB/s
  double busbw() const { return algbw() * bus_factor; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BenchRow, collective, algorithm, selected, transport, bytes, ranks, min_seconds,
                                   median_seconds, max_seconds, bus_factor, messages, bytes_sent, rounds, wrong)

/// What the benchmark measures at each size: every algorithm, in turns so that all see the same machine.
struct BenchRun {
  int num_ranks = 4;
  std::string transport = "gloo";
  std::vector<std::int64_t> sizes;  ///< bytes, as nccl-tests counts them; rounded down to whole elements per rank
  int turns = 11;                   ///< blocks of each algorithm; the median counts
  bool fits = false;                ///< for choice_tables(): without those that pass everything through one rank
};

/// Measured by ranks in separate processes. An algorithm that is not implemented is left out, with a line, unless the
/// student's function picks it.
/// Errors    as a rank's error, where one fails
std::vector<BenchRow> measured_rows(const BenchRun& run, const Collective& collective);

/// The tables of choose_...(), as C++ to put there: of each collective, for each number of ranks, the quickest algorithm
/// up to each size. Another one counts as quicker only if it saves a tenth, so that chance decides nothing. Rows for the
/// same are those of several transports: the product of their times counts.
/// Errors    UsageError: an algorithm was not measured at all sizes of the others
std::string choice_tables(const std::vector<BenchRow>& rows);

std::string bench_header();
std::string bench_line(const BenchRow& row);
/// What `--json` writes: of each row also algbw and busbw, in place of their ratio.
std::string bench_json(const std::vector<BenchRow>& rows);

}  // namespace lab::a9
