#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grading/sandbox/sandbox.h"
#include "grading/similarity/class_code.h"

namespace lab::grading {

/// When a pair is worth looking at.
struct SimilarityLimits {
  double share = 0.4;        ///< of the tokens of one of the two, at least
  std::size_t tokens = 250;  ///< that match, at least
};

/// Lines of all C++ that students of a lab ("a9_collectives") are given, without blanks. `source`: the suite's own tree.
/// Errors    as derive_starter()
std::map<std::string, std::set<std::string>> given_lines(const std::string& source);

/// The code of one hand-in, all files in one.
struct ComparedCode {
  std::vector<std::string> lines;
  std::map<std::size_t, std::string> files;  ///< index of the first line -> name
  std::size_t num_tokens = 0;                ///< as sim_c++ counts them, without lines that everybody was given
};

struct LineRange {
  std::size_t first = 0, last = 0;  ///< indexes, both included
};

/// A run of tokens that two hand-ins have in common.
struct MatchingRun {
  LineRange first, second;
  std::size_t num_tokens = 0;
};

/// Two hand-ins of the same lab, and what they have in common.
struct SimilarPair {
  std::size_t first = 0, second = 0;  ///< first < second, of the compared hand-ins
  std::vector<MatchingRun> runs;      ///< the longest first
  std::size_t num_tokens = 0;         ///< that match
  double share_of_first = 0;          ///< of its tokens: 0 to 1
  double share_of_second = 0;

  double largest_share() const { return share_of_first > share_of_second ? share_of_first : share_of_second; }
  bool is_notable(const SimilarityLimits& limits) const {
    return largest_share() >= limits.share && num_tokens >= limits.tokens;
  }
};

/// The hand-ins for one lab, compared with each other.
struct LabSimilarity {
  std::string lab;
  std::vector<const PlannedHandIn*> hand_ins;
  std::vector<ComparedCode> codes;   ///< of these
  std::set<std::size_t> too_costly;  ///< of these, those that were not compared
  std::size_t num_pairs = 0;         ///< that were compared: without those that have a student in common
  std::vector<SimilarPair> pairs;    ///< that have something in common, most similar first
};

/// Compares by sim_c++, in the sandbox. `given`: lines that are left out.
/// Errors    UsageError: sim_c++ is not installed, or fails
LabSimilarity compare_lab(const std::string& lab, const std::vector<StudentCode>& hand_ins,
                          const std::set<std::string>& given, const Sandbox& sandbox);

}  // namespace lab::grading
