#include "common/comm/trace/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/comm/trace/critical_path.h"

namespace lab::comm {
namespace {

using nlohmann::json;

constexpr std::size_t kMostShapes = 5000;        // of a clock: what a browser draws at once without delay
constexpr std::size_t kMostShapesOfSmall = 300;  // of each kind, of one of many timelines on a page
constexpr double kLeastSecondsOfLost = 20e-6;    // a message's latency in model time

std::string place_of(const TraceEvent& event) {
  return event.where.empty() ? "" : ", " + event.where;
}

bool is_lost(const MessageEnds& ends) {
  const bool sent = ends.sent != nullptr && !never_completed(*ends.sent);
  const bool received = ends.received != nullptr && !never_completed(*ends.received);
  return !sent && !received;
}

/// What became of it, if not all is well.
std::string fate_of(const MessageEnds& ends) {
  if (!is_lost(ends)) return ends.sent == nullptr || ends.received == nullptr ? ", one end only" : "";
  if (ends.received == nullptr) return ", never received";
  return ends.sent == nullptr ? ", never sent" : ", never completed";
}

std::string text_of(const MessageEnds& ends) {
  const TraceEvent& one = ends.sent != nullptr ? *ends.sent : *ends.received;
  std::string text =
      fmt::format("{} from rank {} to rank {}: {} B", one.operation, ends.src_rank(), ends.dst_rank(), one.bytes);
  if (!one.label.empty()) text += ", " + one.label;
  return text + fate_of(ends) + place_of(one);
}

/// One clock's boxes and arrows, sorted by when they begin.
struct Shapes {
  Shapes(const std::vector<TraceEvent>& events, double first) {
    double last = 0;
    for (const TraceEvent& event : events) {
      last = std::max(last, event.end_seconds - first);
      if (event.kind == TraceKind::kMessage) continue;
      boxes.push_back({event.rank, event.start_seconds - first, event.end_seconds - first,
                       event.operation + (event.label.empty() ? "" : ", " + event.label) + place_of(event)});
      if (event.kind == TraceKind::kCollective) boxes.back().push_back("collective");
    }
    for (const MessageEnds& ends : message_ends(events)) {
      const double start = ends.start_seconds() - first;
      double end = ends.arrived_seconds() - first;
      if (is_lost(ends)) end = std::max(end, start + std::max(kLeastSecondsOfLost, last / 10));
      arrows.push_back({ends.src_rank(), ends.dst_rank(), start, end, text_of(ends), is_lost(ends)});
    }
    std::stable_sort(boxes.begin(), boxes.end(), [](const json& a, const json& b) { return a[1] < b[1]; });
    std::stable_sort(arrows.begin(), arrows.end(), [](const json& a, const json& b) { return a[2] < b[2]; });
  }

  std::vector<json> boxes, arrows;
};

/// Returns how many there were beyond.
std::size_t keep_first(std::vector<json>& shapes, std::size_t most) {
  const std::size_t left_out = shapes.size() - std::min(shapes.size(), most);
  shapes.resize(shapes.size() - left_out);
  return left_out;
}

/// When each period but the first begins.
json begins_of_periods(const std::vector<TraceEvent>& events, double first) {
  std::map<std::uint32_t, double> begins;
  for (const TraceEvent& event : events) {
    const auto [begin, is_new] = begins.emplace(event.model_period, event.start_seconds - first);
    if (!is_new) begin->second = std::min(begin->second, event.start_seconds - first);
  }
  json list = json::array();
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    if (begin != begins.begin()) list.push_back(begin->second);
  }
  return list;
}

json path_of(const std::vector<TraceEvent>& in_model, std::size_t most) {
  std::vector<json> path;
  for (const PathStep& step : critical_paths(in_model))
    path.push_back(
        {step.src_rank, step.dst_rank, static_cast<double>(step.begin) / 1e12, static_cast<double>(step.end) / 1e12});
  keep_first(path, most);
  return path;
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
    left_out = keep_first(shapes.boxes, kMostShapes) + keep_first(shapes.arrows, kMostShapes);
    clocks.push_back({{"name", name},
                      {"boxes", shapes.boxes},
                      {"arrows", shapes.arrows},
                      {"path", path},
                      {"checks", begins_of_periods(in_it, first)}});
  };
  if (has_model_time) {
    const std::vector<TraceEvent> in_model = in_model_time(events);
    add("model time", in_model, 0, path_of(in_model, kMostShapes));
  }
  double first = std::numeric_limits<double>::infinity();
  for (const TraceEvent& event : events) first = std::min(first, event.start_seconds);
  add("wall time", events, first, json::array());
  return {{"ranks", num_ranks}, {"left_out", left_out}, {"clocks", clocks}};
}

json timeline_json(const std::vector<RankTrace>& by_rank, bool is_whole) {
  std::vector<TraceEvent> events;
  bool is_cut = false;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    is_cut = is_cut || by_rank[rank].is_cut;
    events.insert(events.end(), by_rank[rank].events.begin(), by_rank[rank].events.end());
    const std::vector<TraceEvent> computed = computations(by_rank[rank], static_cast<int>(rank));
    events.insert(events.end(), computed.begin(), computed.end());
  }
  for (TraceEvent& event : events) event.model_period = 0;
  const std::vector<TraceEvent> in_model = in_model_time(std::move(events));
  Shapes shapes(in_model, 0);
  const std::size_t left_out =
      keep_first(shapes.boxes, kMostShapesOfSmall) + keep_first(shapes.arrows, kMostShapesOfSmall);
  const bool has_path = is_whole && !is_cut && left_out == 0;
  const json clock = {{"name", "model time"},
                      {"boxes", shapes.boxes},
                      {"arrows", shapes.arrows},
                      {"path", has_path ? path_of(in_model, kMostShapesOfSmall) : json::array()}};
  return {{"ranks", by_rank.size()}, {"left_out", left_out}, {"is_cut", is_cut}, {"clocks", json::array({clock})}};
}

}  // namespace lab::comm
