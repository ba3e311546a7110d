#pragma once

#include <cstddef>
#include <vector>

#include "grading/similarity/compared_code.h"

namespace lab::grading {

/// A run of tokens that two hand-ins have in common, and that nobody was given.
struct MatchingSpan {
  CodePlace first, second;  ///< where it begins in either
  std::size_t num_tokens = 0;
};

/// The spans that both have, the longest first; each token is in at most one. Each is at least a run long, and the same
/// runs were left out of both as base code.
/// Cost      about linear in the tokens; of a run that is repeated often, the first few places are looked at
std::vector<MatchingSpan> matching_spans(const ComparedCode& first, const ComparedCode& second);

}  // namespace lab::grading
