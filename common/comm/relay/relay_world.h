#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/base/files.h"
#include "common/comm/messages/collective_backend.h"
#include "common/comm/messages/model_time.h"
#include "common/comm/trace/rank_trace.h"
#include "common/comm/transport.h"

namespace lab::comm {

struct RelayOptions {
  double timeout_seconds = 60;  ///< a wait that lasts longer throws CommError on its rank
  std::uint64_t max_message_bytes = 1u << 30;
  std::uint64_t max_posted_bytes = 1u << 30;  ///< of all messages of a rank that it has not waited for
  /// With it, every answer to a wait is late by up to max_delay_seconds, and what a message holds is taken that much
  /// after its two ends are posted, drawn from this seed: code that depends on an order, or that changes a tensor before
  /// its send is complete, fails.
  std::optional<std::uint64_t> shake_seed;
  double max_delay_seconds = 0.002;
  ModelRates model_rates;
};

/// What a rank has spent on one piece of work, by the relay's count.
struct RelayCost {
  std::vector<LedgerEntry> ledger;
  ModelTime model_time;  ///< the relay's clock; how much the rank computed is the rank's claim
  RankTrace trace;       ///< by that clock
};

/// What the ranks of a world are given to do, one piece after the other, and give back. Called by RelayWorld::serve().
class RelayWork {
 public:
  virtual ~RelayWork() = default;
  /// The rank's next piece of work; none: it has done all. Its ledger and its clock begin at zero. `process` asks for
  /// it, as the kernel says (SO_PEERCRED), and waits for the answer.
  virtual std::optional<std::string> next(int rank, pid_t process) = 0;
  /// What the rank made of it, which untrusted code may have written, and what it spent meanwhile.
  virtual void done(int rank, pid_t process, std::string result, const RelayCost& spent) = 0;
};

/// Why a world ended early.
struct RelayFailure {
  int rank = -1;  ///< -1: no single rank's fault, the world is stuck
  ExitCode exit_code = ExitCode::kInternal;
  std::string message;
  std::vector<int> stuck_ranks = {};  ///< if the world is stuck: the ranks that prove it
};

/// A rank's end of the world.
struct RelayEnd {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<CollectiveBackend> collectives;
  std::function<std::optional<std::string>()> next_work;
  std::function<void(const std::string& result)> return_result;
};

/// The world for judging: each rank is a process whose only connection is a socket to the relay, which matches the
/// messages of all ranks, checks their contracts, passes on their bytes, and counts. The relay believes nothing but what
/// passes through it: whatever a rank does to its own memory, the relay's count of its messages, bytes and rounds is
/// right, and a deadlock is detected as soon as it forms.
/// Example   RelayWorld world(2);
///           fork: child r: run(world.join(r)); parent: world.serve();
class RelayWorld {
 public:
  explicit RelayWorld(int num_ranks, const RelayOptions& options = {});
  ~RelayWorld();
  RelayWorld(const RelayWorld&) = delete;
  RelayWorld& operator=(const RelayWorld&) = delete;

  /// In the parent: the end that rank's process inherits, as a descriptor.
  int rank_end(int rank) const;
  /// In the child of a fork: closes all ends but this rank's.
  RelayEnd join(int rank);
  /// In a program that inherited the end of a rank.
  static RelayEnd join_by(int descriptor, int rank, int size, bool shaken = false);

  /// In the parent, once all processes are started: returns when every rank has closed its end, which it also does when
  /// its process ends. Closes the parent's copies of the ranks' ends first.
  void serve(RelayWork* work = nullptr);

  /// What a rank has spent since it last asked for work, as its own Ledger would count it: "message" for its own
  /// messages, a collective under its name.
  std::vector<LedgerEntry> reach_ledger(int rank) const;
  /// Its model time since then, until it last posted, waited, joined a collective or handed in.
  ModelTime bound_model_time(int rank) const;
  /// What it did since then; with the wait that has ended in vain, if one has.
  RankTrace read_trace(int rank) const;
  /// Why it ended early, once served; none: it did not.
  std::optional<RelayFailure> failure() const;

 private:
  class Hub;
  std::unique_ptr<Hub> hub_;
};

}  // namespace lab::comm
