#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/watch/wait_graph.h"

namespace lab::comm {

/// What a rank did: one message as seen by one of its two ends, one built-in collective, or one computation recorded on
/// request.
enum class TraceKind { kMessage, kCollective, kComputation };

/// For what is not a message, the channel's direction, peer and tag are unused.
struct TraceEvent : Channel {
  int rank = 0;
  TraceKind kind = TraceKind::kMessage;
  std::uint64_t sequence = 0;  ///< n-th message of its channel, equal on both ends; for a computation, its turn
  std::int64_t bytes = 0;
  std::uint64_t round = 0;  ///< the sender's logical step, equal on both ends: messages of one round could overlap
  std::string operation;
  std::string where;
  std::string label;            ///< what the payload is, from WorldSpec::payload_label; usually empty
  double start_seconds = 0;     ///< when it was posted
  double end_seconds = 0;       ///< when its wait returned
  double arrived_seconds = -1;  ///< of a message: when it arrived, waited for or not; negative: unknown
  /// The same in model time (model_time.md), in picoseconds. A send does not know when the receiver's port was free.
  std::int64_t model_start = 0;
  std::int64_t model_end = 0;
  std::int64_t model_arrived = -1;  ///< of a message; else negative
  std::int64_t model_posted = 0;    ///< of a send: when its bytes could leave; of a receive: when it was posted;
                                    ///< of a collective: when the last member began it
  std::int64_t model_waited = 0;    ///< how long its wait, or a collective's, had to wait for other ranks
  std::uint32_t model_period = 0;   ///< how often this rank had restarted its clock before
};

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

/// Chrome Trace Event JSON: opens in Perfetto, speedscope and chrome://tracing. One process per rank, one slice per
/// message end, per collective and per computation, one flow arrow per message. Viewers drop slices that overlap in a
/// row, so there are as many rows as it takes: "rank 1 sends", "rank 1 sends (2)". Times are nanoseconds from the first
/// event. A trace with model time has these again as further processes, "rank 0, model time", and a row for the critical
/// path.
/// Source    "Trace Event Format", the Chromium project; Perfetto's FAQ on overlapping events.
std::string chrome_trace_json(const std::vector<TraceEvent>& events);

/// One line per message end, after a header line; a label column if there are any labels.
std::string trace_csv(const std::vector<TraceEvent>& events);

/// Checks before the run that write_trace() can write a file of this name.
/// Errors    UsageError: an ending that write_trace() does not know; for a picture, those of plot::check_timeline_name()
void check_trace_name(const std::string& path);

/// Writes the trace in the format given by the file's ending: .json (chrome_trace_json), .csv (trace_csv), .png,
/// .svg or .pdf (trace_timeline.h).
/// Errors    UsageError: another ending, or those of plot::draw()
void write_trace(const std::string& path, const std::vector<TraceEvent>& events);

}  // namespace lab::comm
