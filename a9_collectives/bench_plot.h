#pragma once

#include <vector>

#include "a9_collectives/bench_rows.h"
#include "common/report/plot_chart.h"

namespace lab::a9 {

/// Bus bandwidth against size of one collective's rows: a line for what the student's function picks, a dashed one per
/// peer, and a mark at each size from which on an algorithm is picked.
/// Errors    UsageError: no rows
plot::Chart bench_chart(const std::vector<BenchRow>& rows);

}  // namespace lab::a9
