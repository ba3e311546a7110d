#pragma once

#include <string>

#include "common/launch/run_ranks.h"

namespace lab {

/// How a rank that is a process hands its outcome to the process that started it: a JSON file and a safetensors file in
/// a folder.
void save_outcome(const std::string& folder, const RankOutcome& outcome);

/// The outcome that `rank` left, or nothing: it died before it could.
std::optional<RankOutcome> load_outcome(const std::string& folder, int rank);

/// The same for a process that ran all the ranks of a world: one JSON file and at most one safetensors file.
void save_outcomes(const std::string& folder, const std::vector<RankOutcome>& outcomes);

/// The outcomes by rank; empty: the process died before it could leave them.
std::vector<RankOutcome> load_outcomes(const std::string& folder);

/// The outcome without its tensors as JSON text, and back: also how ranks of a foreign launcher report to rank 0.
std::string to_json(const RankOutcome& outcome);
RankOutcome outcome_from_json(const std::string& text);

}  // namespace lab
