#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/wait_graph.h"

namespace lab {

/// One message as one of its two ends saw it, or one built-in collective on one rank.
struct TraceEvent {
  int rank = 0;
  bool collective = false;  ///< then direction, peer, tag and sequence say nothing
  Direction direction = Direction::kSend;
  int peer = 0;
  std::uint32_t group = 0;
  int tag = 0;
  std::uint64_t sequence = 0;  ///< n-th message of its channel, equal on both ends
  std::int64_t bytes = 0;
  std::uint64_t round = 0;  ///< the sender's logical step, equal on both ends: messages of one round could overlap
  std::string operation;
  std::string where;
  std::string label;         ///< what the payload is, in the words of WorldSpec::payload_label; usually empty
  double start_seconds = 0;  ///< when it was posted
  double end_seconds = 0;    ///< when its wait returned
};

/// Chrome Trace Event JSON: opens in Perfetto and chrome://tracing. One process per rank, one slice per message end and
/// per collective, one flow arrow per message. Times are relative to the first event.
/// Source    "Trace Event Format", the Chromium project.
std::string chrome_trace_json(const std::vector<TraceEvent>& events);

/// One line per message end, with a header line; a column of labels if there are any.
std::string trace_csv(const std::vector<TraceEvent>& events);

/// Errors    UsageError: the file's ending is neither .json nor .csv
void check_trace_name(const std::string& path);

/// Writes the trace in the format that the file's ending asks for (.json, .csv). Errors: UsageError for another ending,
/// or when the file cannot be written.
void write_trace(const std::string& path, const std::vector<TraceEvent>& events);

}  // namespace lab
