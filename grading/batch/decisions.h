#pragma once

#include <string>

namespace lab::grading {

/// What an instructor has decided about a hand-in's files, with --accept and --believe. It holds for these files in later
/// gradings too, until they are handed in differently.
struct Decisions {
  std::string accepted;         ///< see AcceptedSymbols
  bool believes_ranks = false;  ///< see GradeOptions

  bool any() const { return believes_ranks || !accepted.empty(); }
};

/// What an outcome depends on (StoredResult::judging), the decisions included.
std::string judging_with(const std::string& judging, const Decisions& decisions);

/// The decisions in what judging_with() returned; none in any other text.
Decisions decisions_in(const std::string& judging);

}  // namespace lab::grading
