#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grading/similarity/lab_similarity.h"

namespace lab::grading {

/// For the terminal: of each lab the `top` most similar pairs. An asterisk marks those to look at.
std::string similarity_text(const std::vector<LabSimilarity>& labs, const SimilarityLimits& limits, std::size_t top);

}  // namespace lab::grading
