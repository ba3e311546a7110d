#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

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

constexpr const char* kKinds[] = {"sends", "receives", "collectives", "computations"};

int find_kind(const TraceEvent& event) {
  if (event.kind == TraceKind::kComputation) return 3;
  if (event.kind == TraceKind::kCollective) return 2;
  return event.direction == Direction::kSend ? 0 : 1;
}

/// A row of a rank: a thread of its process, to the viewers, which drop or stretch slices that overlap in a row.
struct Row {
  int kind = 0;
  std::string name;
  std::int64_t end_ns = 0;  ///< of its last slice
};

/// The rank's first row of this kind that is free by then; a new one if there is none.
std::size_t free_row(std::vector<Row>& rows, int rank, int kind, std::int64_t start_ns) {
  int num_of_kind = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind != kind) continue;
    if (rows[i].end_ns <= start_ns) return i;
    ++num_of_kind;
  }
  rows.push_back({kind, fmt::format("rank {} {}", rank, kKinds[kind])});
  if (num_of_kind > 0) rows.back().name += fmt::format(" ({})", num_of_kind + 1);
  return rows.size() - 1;
}

/// A slice ends 10 ps early: viewers that add and subtract microseconds as doubles must not find its end after the
/// beginning of the next. Perfetto's nanoseconds are right.
nlohmann::json times(std::int64_t start_ns, std::int64_t end_ns) {
  const double duration = end_ns > start_ns ? static_cast<double>((end_ns - start_ns) * 100 - 1) / 1e5 : 0;
  return {{"ts", static_cast<double>(start_ns) / 1e3}, {"dur", duration}};
}

/// Where slices go: to processes from first_pid on, named "rank 0" and this suffix; time 0 is at the origin.
struct SliceTarget {
  int first_pid = 0;
  std::string suffix;
  double origin_seconds = 0;
};

/// `arrow_ids`: by flow_id(). Perfetto wants numbers.
void add_slices(const SliceTarget& target, std::vector<TraceEvent> events,
                std::map<std::string, std::size_t>& arrow_ids, nlohmann::json& list) {
  using nlohmann::json;
  const auto nanoseconds = [&](double seconds) { return std::llround((seconds - target.origin_seconds) * 1e9); };
  // Of those that start together the longest comes first: before it, speedscope gets lost in one that takes no time.
  const auto order = [&](const TraceEvent& event) {
    return std::tuple(find_kind(event), nanoseconds(event.start_seconds), -nanoseconds(event.end_seconds));
  };
  std::stable_sort(events.begin(), events.end(),
                   [&](const TraceEvent& a, const TraceEvent& b) { return order(a) < order(b); });
  std::map<int, std::vector<Row>> rows;  // by rank
  for (const TraceEvent& event : events) {
    const bool sends = event.direction == Direction::kSend;
    const std::string name = event.kind != TraceKind::kMessage
                                 ? event.operation
                                 : fmt::format("{} {} {}", event.operation, sends ? "to" : "from", event.peer);
    const std::int64_t start = nanoseconds(event.start_seconds), end = nanoseconds(event.end_seconds);
    const std::size_t row = free_row(rows[event.rank], event.rank, find_kind(event), start);
    rows[event.rank][row].end_ns = end;
    const json place = {{"pid", target.first_pid + event.rank}, {"tid", row + 1}};
    json slice = place;
    slice.update(times(start, end));
    slice.update({{"ph", "X"},
                  {"cat", category(event)},
                  {"name", name},
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
    // Viewers look for the slice at an arrow's end: a message may have been there before its receive.
    const std::int64_t last = std::max(start, end - 1);
    const std::int64_t arrived =
        event.arrived_seconds < 0 ? last : std::clamp<std::int64_t>(nanoseconds(event.arrived_seconds), start, last);
    json flow = place;
    flow.update({{"ph", sends ? "s" : "f"},
                 {"cat", "message"},
                 {"name", "message"},
                 {"id", arrow_ids.emplace(flow_id(event) + target.suffix, arrow_ids.size()).first->second},
                 {"ts", static_cast<double>(sends ? start : arrived) / 1e3}});
    if (!sends) flow["bp"] = "e";
    list.push_back(flow);
  }
  for (const auto& [rank, own] : rows) {
    const int pid = target.first_pid + rank;
    list.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", pid},
                    {"args", {{"name", fmt::format("rank {}{}", rank, target.suffix)}}}});
    int tid = 0;
    for (const Row& row : own) {
      list.push_back(
          {{"ph", "M"}, {"name", "thread_name"}, {"pid", pid}, {"tid", ++tid}, {"args", {{"name", row.name}}}});
    }
  }
}

/// One row of slices: the rank, or the message, that the end is waiting for.
void add_path(int pid, const std::vector<PathStep>& path, nlohmann::json& list) {
  for (const PathStep& step : path) {
    const std::string name = step.src_rank == step.dst_rank
                                 ? fmt::format("rank {}", step.src_rank)
                                 : fmt::format("rank {} to rank {}", step.src_rank, step.dst_rank);
    const auto nanoseconds = [](std::int64_t ps) { return std::llround(static_cast<double>(ps) / 1e3); };
    const std::int64_t start = nanoseconds(step.begin), end = nanoseconds(step.end);
    if (start == end) continue;
    nlohmann::json slice = {{"ph", "X"}, {"cat", "path"}, {"name", name}, {"pid", pid}, {"tid", 1}};
    slice.update(times(start, end));
    list.push_back(slice);
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
  std::map<std::string, std::size_t> arrow_ids;
  add_slices({1, "", first}, events, arrow_ids, list);  // Perfetto takes 0 for the kernel's idle process and thread
  if (has_model_time) {
    const std::vector<TraceEvent> in_model = in_model_time(events);
    add_slices({1 + num_ranks, ", model time", 0}, in_model, arrow_ids, list);
    add_path(1 + 2 * num_ranks, critical_paths(in_model), list);
  }
  return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", list}}.dump(1) + "\n";
}

}  // namespace lab::comm
