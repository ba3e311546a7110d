#pragma once

namespace lab {

/// Makes sure, before anything is half done, that `num_needed` more files and sockets can be opened in this process; raises
/// the soft limit as far as the hard one where that helps.
/// Errors    UsageError: there are too few, and ulimit -n is named
void reserve_descriptors(int num_needed);

}  // namespace lab
