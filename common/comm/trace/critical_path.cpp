#include "common/comm/trace/critical_path.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lab::comm {
namespace {

double find_seconds(std::int64_t picoseconds) {
  return static_cast<double>(picoseconds) / 1e12;  // rounded once: 5 us are 5e-06
}

/// What each event waited for, and each rank's events in the order of their ends.
class Dependencies {
 public:
  explicit Dependencies(const std::vector<TraceEvent>& events) {
    for (const MessageEnds& ends : message_ends(events)) {
      if (ends.sent == nullptr || ends.received == nullptr) continue;
      other_end_[ends.sent] = ends.received;
      other_end_[ends.received] = ends.sent;
    }
    for (const TraceEvent& event : events) {
      of_rank_[event.rank].push_back(&event);
      if (event.kind == TraceKind::kCollective) {
        const auto turn = num_collectives_[{event.rank, event.group}]++;
        members_[{event.group, turn}].push_back(&event);
        turn_of_[&event] = turn;
      }
    }
    for (auto& [rank, list] : of_rank_) {
      std::stable_sort(list.begin(), list.end(),
                       [](const TraceEvent* a, const TraceEvent* b) { return a->model_end < b->model_end; });
    }
  }

  const TraceEvent* last() const {
    const TraceEvent* last = nullptr;
    for (const auto& [rank, list] : of_rank_) {
      if (last == nullptr || list.back()->model_end > last->model_end) last = list.back();
    }
    return last;
  }

  /// The rank's last wait that ended by then and took time; null: there is none.
  const TraceEvent* last_wait(int rank, std::int64_t time) const {
    const auto found = of_rank_.find(rank);
    if (found == of_rank_.end()) return nullptr;
    const std::vector<const TraceEvent*>& list = found->second;
    auto at = std::upper_bound(list.begin(), list.end(), time,
                               [](std::int64_t until, const TraceEvent* event) { return until < event->model_end; });
    while (at != list.begin()) {
      if ((*--at)->model_waited > 0) return *at;
    }
    return nullptr;
  }

  /// The event at whose beginning it was decided when `waited` would end: its own, or another rank's.
  const TraceEvent* name_cause(const TraceEvent* waited) const {
    if (waited->kind == TraceKind::kCollective) {
      for (const TraceEvent* member : members_.at({waited->group, turn_of_.at(waited)})) {
        if (member->model_start == waited->model_posted) return member;
      }
      return waited;
    }
    const auto other = other_end_.find(waited);
    if (other == other_end_.end()) return waited;
    return other->second->model_posted > waited->model_posted ? other->second : waited;
  }

 private:
  std::map<const TraceEvent*, const TraceEvent*> other_end_;
  std::map<int, std::vector<const TraceEvent*>> of_rank_;
  std::map<std::pair<int, std::uint32_t>, std::size_t> num_collectives_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::vector<const TraceEvent*>> members_;
  std::map<const TraceEvent*, std::size_t> turn_of_;
};

/// When the wait was over: what follows, such as the overhead of taking a message, is the rank's own.
std::int64_t end_of_wait(const TraceEvent& event) {
  return event.kind == TraceKind::kMessage && event.model_arrived >= 0 ? std::min(event.model_arrived, event.model_end)
                                                                       : event.model_end;
}

}  // namespace

std::vector<PathStep> critical_path(const std::vector<TraceEvent>& events) {
  const Dependencies dependencies(events);
  std::vector<PathStep> path;  // backwards
  const TraceEvent* last = dependencies.last();
  if (last == nullptr) return path;
  int rank = last->rank;
  std::int64_t time = last->model_end;
  const auto add = [&](int src_rank, std::int64_t begin) {
    const bool stays = src_rank == rank;
    if (stays && !path.empty() && path.back().src_rank == path.back().dst_rank) {
      path.back().begin = begin;
    } else if (!stays || begin < time) {
      path.push_back({src_rank, rank, begin, time});
    }
    rank = src_rank;
    time = begin;
  };
  while (time > 0) {
    const TraceEvent* waited = dependencies.last_wait(rank, time);
    if (waited == nullptr) break;
    const TraceEvent* cause = dependencies.name_cause(waited);
    if (cause->model_start >= time) break;  // a damaged trace
    add(rank, end_of_wait(*waited));
    add(cause->rank, cause->model_start);
  }
  add(rank, 0);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<TraceEvent> in_model_time(std::vector<TraceEvent> events) {
  std::map<std::uint32_t, std::int64_t> lengths, begins;
  for (const TraceEvent& event : events)
    lengths[event.model_period] = std::max(lengths[event.model_period], event.model_end);
  std::int64_t begin = 0;
  for (const auto& [period, length] : lengths) {
    begins[period] = begin;
    begin += length;
  }
  for (TraceEvent& event : events) {
    const std::int64_t shift = begins.at(event.model_period);
    event.model_start += shift;
    event.model_end += shift;
    event.model_posted += shift;
    if (event.model_arrived >= 0) event.model_arrived += shift;
    event.start_seconds = find_seconds(event.model_start);
    event.end_seconds = find_seconds(event.model_end);
    event.arrived_seconds = event.model_arrived < 0 ? -1 : find_seconds(event.model_arrived);
  }
  return events;
}

std::vector<PathStep> critical_paths(const std::vector<TraceEvent>& in_model_time) {
  std::map<std::uint32_t, std::vector<TraceEvent>> periods;
  for (const TraceEvent& event : in_model_time) periods[event.model_period].push_back(event);
  std::vector<PathStep> all;
  std::int64_t begin = 0;
  for (const auto& [period, events] : periods) {
    for (PathStep step : critical_path(events)) {
      step.begin = std::max(step.begin, begin);  // the path of a period begins with it
      all.push_back(step);
    }
    for (const TraceEvent& event : events) begin = std::max(begin, event.model_end);
  }
  return all;
}

}  // namespace lab::comm
