#pragma once

namespace lab::grading::generated {

/// Whether `found` of `tried` bears out a share of at least `percent`. Of all mutants, `found` is that share or more. Of
/// a sample, chance has a say: it does not bear it out if, with just that share, as few would be found in less than one
/// sample in a hundred (binomial distribution).
bool is_share_at_least(double percent, int found, int tried, bool sampled);

}  // namespace lab::grading::generated
