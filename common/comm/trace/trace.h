#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/watch/wait_graph.h"

namespace lab {

/// What a rank did: one message as seen by one of its two ends, one built-in collective, or one computation recorded on
/// request.
enum class TraceKind { kMessage, kCollective, kComputation };

struct TraceEvent {
  int rank = 0;
  TraceKind kind = TraceKind::kMessage;  ///< for the others, direction, peer and tag are unused
  Direction direction = Direction::kSend;
  int peer = 0;
  std::uint32_t group = 0;
  int tag = 0;
  std::uint64_t sequence = 0;  ///< n-th message of its channel, equal on both ends; for a computation, its turn
  std::int64_t bytes = 0;
  std::uint64_t round = 0;  ///< the sender's logical step, equal on both ends: messages of one round could overlap
  std::string operation;
  std::string where;
  std::string label;            ///< what the payload is, from WorldSpec::payload_label; usually empty
  double start_seconds = 0;     ///< when it was posted
  double end_seconds = 0;       ///< when its wait returned
  double arrived_seconds = -1;  ///< of a message: when it arrived, waited for or not; negative: unknown
};

/// Chrome Trace Event JSON: opens in Perfetto and chrome://tracing. One process per rank, one slice per message end,
/// per collective and per computation, one flow arrow per message. Times are relative to the first event.
/// Source    "Trace Event Format", the Chromium project.
std::string chrome_trace_json(const std::vector<TraceEvent>& events);

/// One line per message end, after a header line; a label column if there are any labels.
std::string trace_csv(const std::vector<TraceEvent>& events);

/// Checks before the run that write_trace() can write a file of this name.
/// Errors    UsageError: an ending that write_trace() does not know; for a picture, those of plot::check_plot_name()
void check_trace_name(const std::string& path);

/// Writes the trace in the format given by the file's ending: .json (chrome_trace_json), .csv (trace_csv), .png,
/// .svg or .pdf (trace_diagram). Errors: UsageError: another ending, the file cannot be written, or gnuplot, needed for
/// a picture, is missing.
void write_trace(const std::string& path, const std::vector<TraceEvent>& events);

}  // namespace lab
