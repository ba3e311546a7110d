#pragma once

#include <string>
#include <vector>

#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/commands/chunk_names.h"
#include "common/comm/trace/trace.h"
#include "common/plot/timeline.h"

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

/// What one run of a collective did, decoded from the data that was sent.
struct Explanation {
  std::string collective;
  std::string algorithm;
  int num_ranks = 0;
  ChunkNames names;
  std::vector<std::vector<Piece>> inputs;   ///< by rank, cut into chunks
  std::vector<std::vector<Piece>> results;  ///< by rank, cut into chunks
  std::vector<StepMessage> messages;        ///< labelled with the names of what they carried
  int cost_steps = 0;                       ///< by the algorithm's contract: simultaneous messages are one step
};

/// Runs the algorithm on threads, on data that encodes where it came from. The same program gives the same result.
/// Call      num_ranks: 2 to kMostProvenanceRanks
/// Errors    those of the run
Explanation explain(const Collective& collective, const Algorithm& algorithm, int num_ranks);

/// The algorithm that the student's function picks for a message as small as an explanation's.
const Algorithm& small_message_algorithm(const Collective& collective, int num_ranks);

/// "3 steps"; "1 step with all its messages at once, shown as 3 steps" where the contract counts fewer than are shown.
std::string steps_text(const Explanation& explanation);

/// Lines for a terminal.
/// Example   all_to_all pairwise on 2 ranks: 1 step, 2 messages
///           rank 0 starts with a0 a1
///           rank 1 starts with b0 b1
///           step 1: 0->1 a1, 1->0 b0
///           rank 0 ends with a0 b0
///           rank 1 ends with a1 b1
std::string explanation_text(const Explanation& explanation);

/// Ranks as rows, time to the right: each rank's input as boxes, the arrows of each step, each rank's result as boxes.
/// Boxes have the colour of the rank that they come from, arrows that of their sender; sums are grey.
plot::Timeline explain_diagram(const Explanation& explanation);

}  // namespace lab::a9
