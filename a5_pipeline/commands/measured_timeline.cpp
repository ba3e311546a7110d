#include "a5_pipeline/commands/measured_timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "common/comm/trace/trace.h"

namespace lab::a5 {
namespace {

using pipeline::Action;
using pipeline::Schedule;
using pipeline::Span;
using pipeline::Timeline;

/// The names of the schedule's actions in a trace.
struct Names {
  explicit Names(const Schedule& schedule) {
    for (int rank = 0; rank < schedule.num_ranks; ++rank) {
      for (const Action& action : schedule.ranks[static_cast<std::size_t>(rank)]) {
        if (!is_message(action.operation)) {
          computations[{rank, short_name(schedule, action)}] = action;
        } else if (is_send(action.operation)) {
          const Action whole{action.operation, action.micro_batch, action.chunk};
          sends[{rank, message_tag(schedule, rank, action)}] = whole;
        }
      }
    }
  }

  std::map<std::pair<int, std::string>, Action> computations;
  std::map<std::pair<int, int>, Action> sends;  ///< by sender and tag
};

/// The messages of which the trace holds both ends: from when both were posted to when the receiver had it.
std::vector<Span> messages_of(const Names& names, const std::vector<TraceEvent>& trace) {
  std::vector<Span> spans;
  for (const MessageEnds& ends : message_ends(trace)) {
    if (ends.sent == nullptr || ends.received == nullptr) continue;
    const auto action = names.sends.find({ends.src_rank(), ends.sent->tag});
    if (action == names.sends.end()) continue;
    spans.push_back({ends.src_rank(), action->second, ends.start_seconds(), ends.arrived_seconds()});
  }
  return spans;
}

}  // namespace

Timeline measured_timeline(const Schedule& schedule, const std::vector<TraceEvent>& trace) {
  const Names names(schedule);
  Timeline timeline;
  timeline.busy_seconds.resize(static_cast<std::size_t>(schedule.num_ranks));
  double origin = std::numeric_limits<double>::infinity(), end = 0;
  for (const TraceEvent& event : trace) {
    const auto action = names.computations.find({event.rank, event.operation});
    if (event.kind != TraceKind::kComputation || action == names.computations.end()) continue;
    origin = std::min(origin, event.start_seconds);
    end = std::max(end, event.end_seconds);
    timeline.busy_seconds[static_cast<std::size_t>(event.rank)] += event.end_seconds - event.start_seconds;
    timeline.computations.push_back({event.rank, action->second, event.start_seconds, event.end_seconds});
  }
  timeline.messages = messages_of(names, trace);
  for (auto* spans : {&timeline.computations, &timeline.messages}) {
    for (Span& span : *spans) {
      span.start_seconds -= origin;
      span.end_seconds -= origin;
    }
  }
  timeline.makespan_seconds = timeline.computations.empty() ? 0 : end - origin;
  return timeline;
}

}  // namespace lab::a5
