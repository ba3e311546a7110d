#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/tensor_map.h"
#include "common/comm/messages/endpoint.h"
#include "common/comm/process_world.h"
#include "common/comm/sim/network.h"
#include "common/comm/trace/trace.h"
#include "common/log/run_report.h"

namespace lab::launch {

/// How ranks run: as separate processes, as threads of this one, as actors of a simulated machine, or as processes that
/// communicate through a relay in this one, as the judge runs them.
enum class WorldKind { kProcesses, kThreads, kSim, kRelay };

struct WorldSpec {
  WorldKind kind = WorldKind::kThreads;
  int num_ranks = 4;
  double timeout_seconds = 60;  ///< of the rendezvous and of every wait; simulated seconds in `sim`
  bool traced = false;
  bool careful = true;         ///< Endpoint::careful(), and new tensors are garbage until written; off in timed runs
  std::string fingerprint;     ///< must be equal on all ranks that a launcher started (fingerprint.h); may be empty
  PayloadLabel payload_label;  ///< of every traced message; empty: none
  comm::TransportKind transport = comm::TransportKind::kGloo;  ///< processes only
  /// Processes only, for tests: each group of this many consecutive ranks counts as one host; 0: the real hosts.
  int ranks_per_host = 0;
  std::string log_dir;  ///< processes only: a .log and a .err file per rank; empty: ranks share this process's output
  comm::SimNetwork network;                 ///< sim only
  comm::ModelRates model_rates;             ///< of the machine that model time is about
  std::optional<std::uint64_t> shake_seed;  ///< relay only: see RelayOptions
};

/// Why a rank ended early.
struct RankFailure {
  int exit_code = 0;  ///< of ExitCode, or 128 + signal
  std::string message;
  int crashed_rank = -1;  ///< whose process its own code ended, by a signal or by an index out of range; -1: none
  std::string task = {};  ///< what that rank worked on: "a9.allreduce, AllReduceLarge"; may be empty
};

/// What a rank returns.
struct RankOutcome {
  TensorMap tensors;
  log::RankReport report;
  std::vector<comm::TraceEvent> trace;
  /// For a rank that returned: kAllMatch, or kMismatch if a line was not as expected.
  ExitCode exit_code = ExitCode::kAllMatch;
  std::optional<RankFailure> failure;

  /// Keeps bytes, such as the record of a case: they are in the world's outcome however this rank ends afterwards, except
  /// in `sim`, where it must return.
  void keep(std::string bytes);
  std::vector<std::string> kept;  ///< in a rank that is a process: what is not in its file yet
  std::string broken;             ///< what is wrong with what the rank's process has left; empty: nothing
  int kept_in = -1;               ///< the file of a rank that is a process
};

/// One rank's work. May fill the outcome's tensors and its report's lines; the rest is filled in by the suite.
using RankBody = std::function<void(Communicator&, RankOutcome&)>;

struct WorldOutcome {
  std::vector<RankOutcome> ranks;
  /// Why the run failed, with its exit code: those of the rank that caused the failure. Empty when all returned.
  std::optional<RankFailure> failure;
  std::vector<std::string> rank_lines;  ///< what each rank was doing, if the launcher found the run stuck

  /// Of the failure; else 1 if any rank found a mismatch, else 0.
  int exit_code() const;
};

/// Runs body on every rank of a new world and returns when all have ended, however they ended. Assertions belong after
/// it, on the caller's thread. In `processes`, ranks are forked from this process, which must not have used a thread
/// pool before; in `sim`, a single forked process runs them all.
/// Errors    UsageError: fewer than one rank; a simulated world with an invalid network, or in a build without SimGrid
WorldOutcome run_ranks(const WorldSpec& spec, const RankBody& body);

/// The short form for tests: body returns tensors.
WorldOutcome run_ranks(const WorldSpec& spec, const std::function<TensorMap(Communicator&)>& body);

}  // namespace lab::launch
