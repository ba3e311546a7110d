#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grading/judge/judge_lab.h"
#include "grading/judge/judging_place.h"
#include "grading/submission/submission.h"

namespace lab::grading {

/// How hand-ins are graded.
struct HandInOptions {
  GradeOptions judging;
  std::string accepted;  ///< see AcceptedSymbols

  /// --accept and --believe.
  void add_to(cli::App& app);
};

/// A seed that the submission's authors cannot know, nor find by trying: of 64 bits, all of which the inputs depend on.
std::uint64_t secret_seed();

/// The labs that may be handed in, with the rubrics of the place.
std::vector<KnownLab> known_labs(const JudgingPlace& place);

/// Judges one lab of a submission, with the notes on how it was handed in, its answers and the evidence of its logs.
/// Call      as judge_lab()
/// Errors    as judge_lab()
LabOutcome make_outcome(const JudgingPlace& place, const Submission& submission, std::size_t item,
                        const HandInOptions& options);

/// Puts into an outcome what does not depend on the judge: notes on how it was handed in, answers, evidence of logs.
void take_hand_in(const Submission& submission, std::size_t item, LabOutcome& outcome);

/// For the terminal, a line for each file that was left out until somebody has looked at it: how to accept what it uses.
std::string lines_of_needs_look(const LabOutcome& outcome);

}  // namespace lab::grading
