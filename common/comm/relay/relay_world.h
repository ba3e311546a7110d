#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/base/files.h"
#include "common/base/ledger_entry.h"
#include "common/comm/transport.h"

namespace lab::comm {

struct RelayOptions {
  double timeout_seconds = 60;  ///< a wait that lasts longer throws CommError on its rank
  std::uint64_t max_message_bytes = 1u << 30;
  /// With it, every answer to a wait is late by up to max_delay_seconds, and half of the messages leave their rank only
  /// at its next wait, drawn from this seed: code that depends on an order, or that changes a tensor before its send is
  /// complete, fails.
  std::optional<std::uint64_t> shake_seed;
  double max_delay_seconds = 0.002;
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
  std::shared_ptr<Transport> join(int rank);
  /// In a program that inherited the end of a rank.
  static std::shared_ptr<Transport> join_by(int descriptor, int rank, int size,
                                            std::optional<std::uint64_t> shake_seed = std::nullopt);

  /// In the parent, once all processes are started: returns when every rank has closed its end, which it also does when
  /// its process ends. Closes the parent's copies of the ranks' ends first.
  void serve();

  /// What a rank has sent and received, by operation: "message" for its own messages. The calls of a collective are not
  /// counted, only the bytes that it moved.
  std::vector<LedgerEntry> ledger_of(int rank) const;

 private:
  class Hub;
  std::unique_ptr<Hub> hub_;
};

}  // namespace lab::comm
