#pragma once

#include <string>
#include <vector>

#include "grading/similarity/lab_similarity.h"

namespace lab::grading {

/// Where the page of all pairs is, from the folder of the results.
inline constexpr char kSimilarityPage[] = "similarity/index.html";

/// Writes OUT/similarity/index.html, and pair_1.html and so on: one for each pair to look at, at most 100 of each lab,
/// with both sides' files and the runs that match. Pages of an earlier comparison are removed.
/// Returns   the path of index.html
/// Errors    UsageError: cannot be written
std::string write_similarity_pages(const std::string& out, const std::vector<LabSimilarity>& labs,
                                   const SimilarityLimits& limits, const std::vector<std::string>& not_compared);

/// The page of one pair.
std::string pair_page(const LabSimilarity& lab, const SimilarPair& pair);

}  // namespace lab::grading
