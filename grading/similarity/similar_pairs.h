#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "grading/similarity/compared_code.h"

namespace lab::grading {

/// When a pair is worth looking at, and what counts for less.
struct SimilarityLimits {
  double share = 0.4;             ///< of the code of one of the two, at least
  std::size_t fingerprints = 60;  ///< that match, at least: about 150 tokens
  /// What more hand-ins have than this share of all, and than this many, is how the task is written: a fingerprint of
  /// `n` hand-ins then weighs only limit / n in a share.
  double common_share = 0.1;
  double common_hand_ins = 5;
};

/// Two hand-ins of the same lab, and what they have in common besides the base code. Symmetric in what it says.
struct SimilarPair {
  std::size_t first = 0, second = 0;  ///< first < second, of the compared hand-ins
  std::size_t fingerprints = 0;       ///< in both
  double share_of_first = 0;          ///< of its fingerprints, by weight: 0 to 1
  double share_of_second = 0;

  double largest_share() const { return share_of_first > share_of_second ? share_of_first : share_of_second; }
  bool is_notable(const SimilarityLimits& limits) const {
    return largest_share() >= limits.share && fingerprints >= limits.fingerprints;
  }
};

/// All pairs that share a fingerprint and that `may_be_pair`, most similar first: by the largest share, then by what is
/// shared. Its cost is that of an inverted index: for each fingerprint, the pairs that have it.
std::vector<SimilarPair> similar_pairs(const std::vector<ComparedCode>& hand_ins, const SimilarityLimits& limits,
                                       const std::function<bool(std::size_t, std::size_t)>& may_be_pair);

}  // namespace lab::grading
