#include "common/comm/messages/message_ends.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lab {

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

}  // namespace lab
