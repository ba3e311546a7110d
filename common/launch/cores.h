#pragma once

namespace lab {

/// Cores that this process may use: at least 1.
int usable_cores();

/// The share of each of so many ranks on this machine: at least 1.
int threads_per_rank(int num_local_ranks);

}  // namespace lab
