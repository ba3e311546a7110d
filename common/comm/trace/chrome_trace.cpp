#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/comm/trace/critical_path.h"
#include "common/comm/trace/trace.h"

namespace lab::comm {
namespace {

/// Equal for the two ends of one message and different for any two messages.
std::string flow_id(const TraceEvent& event) {
  const bool sends = event.direction == Direction::kSend;
  return fmt::format("{}>{}/{}/{}/{}", sends ? event.rank : event.peer, sends ? event.peer : event.rank, event.group,
                     event.tag, event.sequence);
}

const char* category(const TraceEvent& event) {
  if (event.kind == TraceKind::kComputation) return "computation";
  return event.kind == TraceKind::kCollective ? "collective" : "message";
}

/// Sends and receives of one rank overlap, so each kind of event has its own row; this gives their order.
constexpr const char* kRows[] = {"send", "recv", "collective", "compute"};

int row_of(const TraceEvent& event) {
  if (event.kind == TraceKind::kComputation) return 3;
  if (event.kind == TraceKind::kCollective) return 2;
  return event.direction == Direction::kSend ? 0 : 1;
}

/// Where slices go: to processes from first_pid on, named "rank 0" and this suffix; time 0 is at the origin.
struct SliceTarget {
  int first_pid = 0;
  std::string suffix;
  double origin_seconds = 0;
};

void add_slices(const SliceTarget& target, const std::vector<TraceEvent>& events, nlohmann::json& list) {
  using nlohmann::json;
  const auto microseconds = [&](double seconds) { return (seconds - target.origin_seconds) * 1e6; };
  std::vector<int> ranks;
  for (const TraceEvent& event : events) {
    if (std::find(ranks.begin(), ranks.end(), event.rank) == ranks.end()) ranks.push_back(event.rank);
    const bool sends = event.direction == Direction::kSend;
    const std::string name = event.kind != TraceKind::kMessage
                                 ? event.operation
                                 : fmt::format("{} {} {}", event.operation, sends ? "to" : "from", event.peer);
    const double start = microseconds(event.start_seconds);
    const double end = microseconds(event.end_seconds);
    const json place = {{"pid", target.first_pid + event.rank}, {"tid", row_of(event)}};
    json slice = place;
    slice.update({{"ph", "X"},
                  {"cat", category(event)},
                  {"name", name},
                  {"ts", start},
                  {"dur", end - start},
                  {"args",
                   {{"bytes", event.bytes},
                    {"tag", event.tag},
                    {"group", event.group},
                    {"round", event.round},
                    {"where", event.where}}}});
    slice["args"].update({{"model_start_ps", event.model_start}, {"model_end_ps", event.model_end}});
    if (event.model_arrived >= 0) slice["args"]["model_arrived_ps"] = event.model_arrived;
    if (!event.label.empty()) slice["args"]["label"] = event.label;
    list.push_back(slice);
    if (event.kind != TraceKind::kMessage) continue;
    json flow = place;
    flow.update({{"ph", sends ? "s" : "f"},
                 {"cat", "message"},
                 {"name", "message"},
                 {"id", flow_id(event) + target.suffix},
                 {"ts", sends                       ? start
                        : event.arrived_seconds < 0 ? end
                                                    : microseconds(event.arrived_seconds)}});
    if (!sends) flow["bp"] = "e";
    list.push_back(flow);
  }
  for (const int rank : ranks) {
    const int pid = target.first_pid + rank;
    list.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", pid},
                    {"args", {{"name", fmt::format("rank {}{}", rank, target.suffix)}}}});
    int row = 0;
    for (const char* name : kRows) {
      list.push_back({{"ph", "M"}, {"name", "thread_name"}, {"pid", pid}, {"tid", row++}, {"args", {{"name", name}}}});
    }
  }
}

/// One row of slices: the rank, or the message, that the end is waiting for.
void add_path(int pid, const std::vector<PathStep>& path, nlohmann::json& list) {
  for (const PathStep& step : path) {
    const std::string name = step.src_rank == step.dst_rank
                                 ? fmt::format("rank {}", step.src_rank)
                                 : fmt::format("rank {} to rank {}", step.src_rank, step.dst_rank);
    list.push_back({{"ph", "X"},
                    {"cat", "path"},
                    {"name", name},
                    {"pid", pid},
                    {"tid", 0},
                    {"ts", static_cast<double>(step.begin) * 1e-6},
                    {"dur", static_cast<double>(step.end - step.begin) * 1e-6}});
  }
  list.push_back(
      {{"ph", "M"}, {"name", "process_name"}, {"pid", pid}, {"args", {{"name", "critical path, model time"}}}});
}

}  // namespace

std::string chrome_trace_json(const std::vector<TraceEvent>& events) {
  nlohmann::json list = nlohmann::json::array();
  double first = 0;
  int num_ranks = 0;
  bool has_model_time = false;
  for (const TraceEvent& event : events) {
    first = num_ranks == 0 ? event.start_seconds : std::min(first, event.start_seconds);
    num_ranks = std::max({num_ranks, event.rank + 1, event.peer + 1});
    has_model_time = has_model_time || event.model_end > 0;
  }
  add_slices({0, "", first}, events, list);
  if (has_model_time) {
    const std::vector<TraceEvent> in_model = in_model_time(events);
    add_slices({num_ranks, ", model time", 0}, in_model, list);
    add_path(2 * num_ranks, critical_paths(in_model), list);
  }
  return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(1) + "\n";
}

}  // namespace lab::comm
