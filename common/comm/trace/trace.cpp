#include "common/comm/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "common/base/files.h"
#include "common/comm/trace/trace_timeline.h"
#include "common/plot/plot.h"

namespace lab::comm {
namespace {

double origin(const std::vector<TraceEvent>& events) {
  double first = std::numeric_limits<double>::infinity();
  for (const TraceEvent& event : events) first = std::min(first, event.start_seconds);
  return events.empty() ? 0 : first;
}

const char* direction_name(const TraceEvent& event) {
  if (event.kind == TraceKind::kComputation) return "compute";
  if (event.kind == TraceKind::kCollective) return "all";
  return event.direction == Direction::kSend ? "send" : "recv";
}

/// A label may contain anything, including commas.
std::string quoted_cell(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

bool is_picture(const std::string& path) {
  return ends_with(path, ".png") || ends_with(path, ".svg") || ends_with(path, ".pdf");
}

}  // namespace

double MessageEnds::start_seconds() const {
  if (sent == nullptr) return received->start_seconds;
  return received == nullptr ? sent->start_seconds : std::max(sent->start_seconds, received->start_seconds);
}

double MessageEnds::arrived_seconds() const {
  const TraceEvent& last = received != nullptr ? *received : *sent;
  if (last.arrived_seconds >= 0) return last.arrived_seconds;
  if (sent == nullptr || received == nullptr) return last.end_seconds;
  return std::max(start_seconds(), std::min(sent->end_seconds, received->end_seconds));
}

std::vector<MessageEnds> message_ends(const std::vector<TraceEvent>& events) {
  using Name = std::tuple<int, int, std::uint32_t, int, std::uint64_t>;  // sender, receiver, group, tag, sequence
  std::map<Name, MessageEnds> by_name;
  for (const TraceEvent& event : events) {
    if (event.kind != TraceKind::kMessage) continue;
    const bool sends = event.direction == Direction::kSend;
    MessageEnds& ends = by_name[Name{sends ? event.rank : event.peer, sends ? event.peer : event.rank, event.group,
                                     event.tag, event.sequence}];
    (sends ? ends.sent : ends.received) = &event;
  }
  std::vector<MessageEnds> all;
  for (const auto& [name, ends] : by_name) all.push_back(ends);
  return all;
}

std::string trace_csv(const std::vector<TraceEvent>& events) {
  const double first = origin(events);
  const bool labelled =
      std::any_of(events.begin(), events.end(), [](const TraceEvent& event) { return !event.label.empty(); });
  std::string text =
      "rank,direction,peer,group,tag,sequence,round,bytes,operation,where,start_seconds,end_seconds,model_start_ps,"
      "model_end_ps,model_arrived_ps";
  text += labelled ? ",label\n" : "\n";
  for (const TraceEvent& event : events) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.9f},{:.9f},{},{},{}", event.rank, direction_name(event),
                        event.peer, event.group, event.tag, event.sequence, event.round, event.bytes, event.operation,
                        event.where, event.start_seconds - first, event.end_seconds - first, event.model_start,
                        event.model_end, event.model_arrived);
    text += labelled ? "," + quoted_cell(event.label) + "\n" : "\n";
  }
  return text;
}

void check_trace_name(const std::string& path) {
  if (is_picture(path)) return plot::check_timeline_name(path);
  if (ends_with(path, ".json") || ends_with(path, ".csv")) return;
  throw UsageError(fmt::format(
      "--trace {}: expected a file that ends in .json (Chrome trace), .csv, or .png, .svg or .pdf (a picture)", path));
}

void write_trace(const std::string& path, const std::vector<TraceEvent>& events) {
  if (is_picture(path)) return plot::draw(trace_timeline(events), path);
  check_trace_name(path);
  write_file_atomically(path, ends_with(path, ".json") ? chrome_trace_json(events) : trace_csv(events));
}

}  // namespace lab::comm
