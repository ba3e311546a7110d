#pragma once

#include "a9_collectives/commands/sim_measure.h"
#include "common/plot/plot_chart.h"

namespace lab::a9 {

/// From this size on, this algorithm is the quickest.
struct Crossover {
  std::int64_t bytes = 0;
  std::string algorithm;
};

/// The quickest algorithms of a sweep, each with the size at which its line crosses the previous one's, interpolated on
/// logarithmic axes; the first from the smallest size on. Of equally quick ones, the one listed first.
std::vector<Crossover> crossovers(const std::vector<SimRow>& rows);

/// Time against size, a line per algorithm, a mark at each crossover.
plot::Chart sweep_chart(const std::vector<SimRow>& rows, const SimNetwork& network);

/// DIR/sweep_<collective>_<ranks>.png
std::string sweep_picture(const std::string& out_dir, const Collective& collective, int num_ranks);

}  // namespace lab::a9
