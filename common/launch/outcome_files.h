#pragma once

#include <string>

#include "common/launch/run_ranks.h"

namespace lab {

/// How a rank that is a process hands its outcome to the process that started it: a JSON file and a safetensors file in
/// a folder.
void save_outcome(const std::string& folder, const RankOutcome& outcome);

/// The outcome that `rank` left, or nothing: it died before it could.
std::optional<RankOutcome> load_outcome(const std::string& folder, int rank);

/// The outcome without its tensors as JSON text, and back: also how ranks of a foreign launcher report to rank 0.
std::string to_json(const RankOutcome& outcome);
RankOutcome outcome_from_json(const std::string& text);

}  // namespace lab
