#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/comm/sim/network.h"
#include "common/comm/trace/trace.h"
#include "common/log/run_report.h"
#include "common/tensor/tensor_map.h"

namespace lab {

/// Where ranks live: in processes of their own, in threads of this one, or as actors of a simulated machine.
enum class WorldKind { kProcesses, kThreads, kSim };

struct WorldSpec {
  WorldKind kind = WorldKind::kThreads;
  int num_ranks = 4;
  double timeout_seconds = 60;  ///< of the meeting and of every wait; simulated seconds in `sim`
  bool traced = false;
  bool careful = true;  ///< collectives compare notes before they begin (PointToPoint::agree); off where they are timed
  std::string fingerprint;  ///< what must be equal on all ranks that a launcher started (fingerprint.h); empty: nothing
  PayloadLabel payload_label;  ///< of every traced message; empty: none
  std::string log_dir;  ///< processes only: a .log and a .err file per rank; empty: ranks share this process's output
  SimNetwork network;   ///< sim only
};

/// Why a rank ended early.
struct RankFailure {
  int exit_code = 0;  ///< of ExitCode, or 128 + signal
  std::string message;
};

/// What a rank leaves behind.
struct RankOutcome {
  TensorMap tensors;
  RankReport report;
  std::vector<TraceEvent> trace;
  /// Of a rank that returned: kAllMatch, or kMismatch when a line did not say what was expected.
  ExitCode exit_code = ExitCode::kAllMatch;
  std::optional<RankFailure> failure;
};

/// One rank's work. May fill the outcome's tensors and its report's lines; the rest is filled for it.
using RankBody = std::function<void(Communicator&, RankOutcome&)>;

struct WorldOutcome {
  std::vector<RankOutcome> ranks;
  /// Why the run failed, and the exit code that goes with it: of the rank that failed by its own fault. Empty when all
  /// returned.
  std::optional<RankFailure> failure;
  std::vector<std::string> rank_lines;  ///< what each rank was doing, when the launcher found the run stuck

  /// Of the failure; else 1 if any rank found a mismatch, else 0.
  int exit_code() const;
};

/// Runs body on every rank of a new world and returns when all have ended, in whichever way. Assertions belong after
/// it, on the caller's thread. In `processes`, ranks are forked from this process, which must not have used a thread
/// pool before; in `sim`, one process is, which runs them all.
/// Errors    UsageError: no rank; a simulated world with a network that cannot be, or in a build without SimGrid
WorldOutcome run_ranks(const WorldSpec& spec, const RankBody& body);

/// The short form for tests: body returns tensors.
WorldOutcome run_ranks(const WorldSpec& spec, const std::function<TensorMap(Communicator&)>& body);

}  // namespace lab
