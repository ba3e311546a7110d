#include "common/comm/message_ends.h"

#include <map>
#include <tuple>

namespace lab {

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
