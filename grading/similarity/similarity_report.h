#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grading/similarity/lab_similarity.h"

namespace lab::grading {

/// What a match does not show, for whoever reads one.
const std::vector<std::string>& what_a_match_does_not_show();

/// For the terminal: of each lab the `top` most similar pairs. An asterisk marks those to look at.
std::string similarity_text(const std::vector<LabSimilarity>& labs, const SimilarityLimits& limits, std::size_t top);

/// The page: at most 100 pairs of each lab, and of those to look at the runs that match, side by side.
std::string similarity_page(const std::vector<LabSimilarity>& labs, const SimilarityLimits& limits,
                            const std::vector<std::string>& not_compared);

}  // namespace lab::grading
