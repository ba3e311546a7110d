#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grading/similarity/class_code.h"
#include "grading/similarity/matching_spans.h"
#include "grading/similarity/similar_pairs.h"

namespace lab::grading {

/// The hand-ins for one lab, compared with each other.
struct LabSimilarity {
  std::string lab;
  std::vector<const PlannedHandIn*> hand_ins;
  std::vector<ComparedCode> codes;  ///< of these
  std::size_t num_pairs = 0;        ///< that were compared: without those that have a student in common
  std::vector<SimilarPair> pairs;   ///< that have something in common, most similar first
};

LabSimilarity compare_lab(const std::string& lab, const std::vector<StudentCode>& hand_ins, const BaseCode& given,
                          const SimilarityLimits& limits);

/// "Ada Lovelace (s1234567)", or what the hand-in is called; on one line, whatever a student wrote.
std::string shown_student(const PlannedHandIn& hand_in);

/// "student/ring.cpp:10-31"
std::string shown_place(const ComparedCode& code, CodePlace begin, std::size_t num_tokens);

/// What a match does not show, for whoever reads one.
const std::vector<std::string>& what_a_match_does_not_show();

}  // namespace lab::grading
