#pragma once

#include <string>
#include <vector>

#include "common/comm/trace/trace.h"

namespace lab::a9 {

struct StepMessage {
  int step = 0;  ///< from 1
  int src_rank = 0;
  int dst_rank = 0;
  std::string label;  ///< of the sender's event
};

/// The messages of a trace in logical steps, by step and then by sender. A message lies in the first step in which
///   - everything that either end had waited for before posting this message is done, and
///   - its sender sends no other and its receiver receives no other: one port, full duplex.
/// Of several candidates, the one that its sender posted earlier goes first, then the lower rank. Only the order of
/// posts and waits within each rank counts, not timing: the same program gives the same steps.
/// Call      events: all ranks', each rank's in its own order; built-in collectives are left out
/// Errors    ContractError: an event whose other end is missing
/// Example   all-to-all on 4 ranks, everything posted at once, nearest neighbour first: 3 steps of 4 messages
std::vector<StepMessage> message_steps(const std::vector<comm::TraceEvent>& events);

/// 0 where there are no messages.
int num_steps(const std::vector<StepMessage>& messages);

}  // namespace lab::a9
