#include "common/comm/trace/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/comm/trace/critical_path.h"

namespace lab::comm {
namespace {

using nlohmann::json;

constexpr std::size_t kMostShapes = 5000;  // of a clock: what a browser draws at once without delay

std::string place_of(const TraceEvent& event) {
  return event.where.empty() ? "" : ", " + event.where;
}

std::string text_of(const MessageEnds& ends) {
  const TraceEvent& one = ends.sent != nullptr ? *ends.sent : *ends.received;
  std::string text =
      fmt::format("{} from rank {} to rank {}: {} B", one.operation, ends.src_rank(), ends.dst_rank(), one.bytes);
  if (!one.label.empty()) text += ", " + one.label;
  if (ends.sent == nullptr || ends.received == nullptr) text += ", one end only";
  return text + place_of(one);
}

/// One clock's boxes and arrows, sorted by when they begin.
struct Shapes {
  Shapes(const std::vector<TraceEvent>& events, double first) {
    for (const TraceEvent& event : events) {
      if (event.kind == TraceKind::kMessage) continue;
      boxes.push_back({event.rank, event.start_seconds - first, event.end_seconds - first,
                       event.operation + (event.label.empty() ? "" : ", " + event.label) + place_of(event)});
    }
    for (const MessageEnds& ends : message_ends(events))
      arrows.push_back({ends.src_rank(), ends.dst_rank(), ends.start_seconds() - first, ends.arrived_seconds() - first,
                        text_of(ends)});
    std::stable_sort(boxes.begin(), boxes.end(), [](const json& a, const json& b) { return a[1] < b[1]; });
    std::stable_sort(arrows.begin(), arrows.end(), [](const json& a, const json& b) { return a[2] < b[2]; });
  }

  std::vector<json> boxes, arrows;
};

std::size_t keep_first(std::vector<json>& shapes) {
  const std::size_t left_out = shapes.size() - std::min(shapes.size(), kMostShapes);
  shapes.resize(shapes.size() - left_out);
  return left_out;
}

}  // namespace

json timeline_json(const std::vector<TraceEvent>& events) {
  int num_ranks = 0;
  bool has_model_time = false;
  for (const TraceEvent& event : events) {
    num_ranks = std::max({num_ranks, event.rank + 1, event.kind == TraceKind::kMessage ? event.peer + 1 : 0});
    has_model_time = has_model_time || event.model_end > 0;
  }
  json clocks = json::array();
  std::size_t left_out = 0;
  const auto add = [&](const char* name, const std::vector<TraceEvent>& in_it, double first, const json& path) {
    Shapes shapes(in_it, first);
    left_out = keep_first(shapes.boxes) + keep_first(shapes.arrows);
    clocks.push_back({{"name", name}, {"boxes", shapes.boxes}, {"arrows", shapes.arrows}, {"path", path}});
  };
  if (has_model_time) {
    const std::vector<TraceEvent> in_model = in_model_time(events);
    std::vector<json> path;
    for (const PathStep& step : critical_paths(in_model))
      path.push_back({step.src_rank, step.dst_rank, static_cast<double>(step.begin) * 1e-12,
                      static_cast<double>(step.end) * 1e-12});
    keep_first(path);
    add("model time", in_model, 0, path);
  }
  double first = std::numeric_limits<double>::infinity();
  for (const TraceEvent& event : events) first = std::min(first, event.start_seconds);
  add("wall time", events, first, json::array());
  return {{"ranks", num_ranks}, {"left_out", left_out}, {"clocks", clocks}};
}

}  // namespace lab::comm
