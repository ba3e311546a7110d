#pragma once

#include <vector>

#include "common/comm/trace/trace.h"

namespace lab {

/// The two ends of one message in a trace; null if the trace does not contain that end.
struct MessageEnds {
  const TraceEvent* sent = nullptr;
  const TraceEvent* received = nullptr;

  int src_rank() const { return sent != nullptr ? sent->rank : received->peer; }
  int dst_rank() const { return sent != nullptr ? sent->peer : received->rank; }
  /// When both ends had been posted.
  double start_seconds() const;
  /// When it arrived. Where the world could not tell: when the first of the two waits returned, which happens only once
  /// the message is there, or on its way in the receiver's machine.
  double arrived_seconds() const;
};

/// Every message of the trace once, by sender, receiver, group, tag and sequence. The events must outlive the result.
std::vector<MessageEnds> message_ends(const std::vector<TraceEvent>& events);

}  // namespace lab
