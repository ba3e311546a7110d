#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "a9_collectives/calls/catalogue.h"
#include "common/comm/sim/network.h"
#include "common/plot/plot_chart.h"

namespace lab::a9 {

/// One algorithm on the simulated network.
struct SimRow {
  std::string collective;
  std::string algorithm;
  bool selected = false;  ///< what the student's function picks
  std::int64_t bytes = 0;
  int ranks = 0;
  double simulated_seconds = 0;  ///< until the last rank is done
  double formula_seconds = 0;  ///< of the algorithm's header, with the network's alpha and beta; NaN: several per host
  std::uint64_t messages = 0;  ///< of all ranks
  std::uint64_t bytes_sent = 0;  ///< by the rank that sends most
  std::uint64_t rounds = 0;      ///< of the longest chain of messages
  std::string left_out;          ///< why it was not simulated; empty if it was
};

/// The row before the simulation: names, size and the formula's time. `bytes` as nccl-tests counts them, rounded down
/// to a multiple of the number of ranks.
SimRow forecast(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int num_ranks,
                const comm::SimNetwork& network);

/// Runs the algorithm on tensors without storage.
/// Errors    UsageError: invalid network, or a build without SimGrid; what the algorithm throws
SimRow simulate(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int num_ranks,
                const comm::SimNetwork& network);

std::string sim_header();
std::string sim_line(const SimRow& row);
std::string sim_json(const std::vector<SimRow>& rows);

/// From this size on, this algorithm is the quickest.
struct Crossover {
  std::int64_t bytes = 0;
  std::string algorithm;
};

/// The quickest algorithms of a sweep, each with the size at which its line crosses the previous one's, interpolated on
/// logarithmic axes; the first from the smallest size on. Of equally quick ones, the one listed first.
std::vector<Crossover> crossovers(const std::vector<SimRow>& rows);

/// Time against size, a line per algorithm, a mark at each crossover.
plot::Chart sweep_chart(const std::vector<SimRow>& rows, const comm::SimNetwork& network);

/// DIR/sweep_<collective>_<ranks>.png
std::string sweep_picture(const std::string& out_dir, const Collective& collective, int num_ranks);

}  // namespace lab::a9
