#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/plot/timeline.h"

namespace lab::plot {

/// A timeline as the JSON of a run and of a check has it, times in seconds:
///
///     {title, ranks, legend: [[rgb, text]], clocks: [{title, boxes: [[rank, start, end, name, title, rgb]],
///     arrows: [[src_rank, dst_rank, start, end, label, title, rgb, dashed]], path: [[src_rank, dst_rank, start, end]],
///     marks: [time]}]}
nlohmann::json to_json(const Timeline& timeline);

/// Errors    UsageError: it is not such JSON
Timeline timeline_from_json(const nlohmann::json& json);

}  // namespace lab::plot
