#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/costs.h"

// Model time: what a run would cost on a machine of fixed rates, whatever this machine is doing. See model_time.md.
namespace lab::comm {

/// The machine of the model, in picoseconds.
struct ModelRates {
  std::int64_t ps_per_flop = 100;        ///< 10 GFLOP/s
  std::int64_t ps_per_byte = 500;        ///< 2 GB/s, each direction of a rank's link
  std::int64_t latency_ps = 20'000'000;  ///< L: 20 us
  std::int64_t overhead_ps = 2'000'000;  ///< o: 2 us for each message a rank posts or takes
};

/// "10 GFLOP/s, 2 GB/s, latency 20 us, overhead 2 us"
std::string rates_text(const ModelRates& rates);

/// The most floating-point operations that a rank may have done: 28 hours at 10 GFLOP/s. Sums of the clocks of any
/// chain of ranks that are tested or judged stay far below 2^63 ps.
constexpr std::int64_t kMaxModelFlops = 1'000'000'000'000'000;

/// The time of one process that does this work.
ModelTime bound_model_time(std::int64_t flops, const ModelRates& rates = {});

/// One rank's clock: LogGP for messages, work / rate for what happens in between. It knows no transport: the times of
/// a message's two ends are arguments.
/// Terms     s: when a send's bytes may leave, r: when its receive was posted; both travel to the other end
/// Ports     one outgoing and one incoming port per rank (full duplex), each used by one message at a time
/// Source    Alexandrov et al., "LogGP", SPAA 1995; the rendezvous is this suite's (transport.h)
class ModelClock {
 public:
  explicit ModelClock(const ModelRates& rates = {}) : rates_(rates) {}

  /// Advances the clock by the operations since the last call; called before everything below.
  /// Errors    ContractError: fewer than before, or more than kMaxModelFlops
  void work(std::int64_t flops_so_far);

  /// Posts a send and returns its s. The outgoing port is taken from then on, whether or not the receiver is ready.
  std::int64_t post_send(std::uint64_t num_bytes);
  /// Posts a receive and returns its r.
  std::int64_t post_recv();

  /// Waits for a receive, and returns when its message arrived: L + n/B after both ends were posted, or later if the
  /// incoming port is busy: then in the first gap that is long enough. Receives take the port in the order in which
  /// they are waited for. A message without bytes needs no port.
  std::int64_t wait_recv(std::int64_t sent, std::int64_t posted, std::uint64_t num_bytes);
  /// Waits for a send, and returns when its message arrived, as far as the sender knows: it does not see the receiver's
  /// port.
  std::int64_t wait_send(std::int64_t sent, std::int64_t posted, std::uint64_t num_bytes);

  /// Waits until this time, at which all who agree on something have come to it.
  void meet(std::int64_t latest) { wait_until(latest); }

  /// A built-in collective that all members begin at `began`, the latest of their clocks; `cost` is the ledger's.
  /// Formula   rounds (2 o + L) + max(bytes_sent, bytes_received) / B
  void collective(std::int64_t began, const LedgerEntry& cost);

  std::int64_t now() const { return time_.total; }
  const ModelTime& time() const { return time_; }

  /// Zero again, with all ports free; the operations until now no longer count.
  void restart(std::int64_t flops_so_far);

 private:
  std::int64_t transfer_ps(std::uint64_t num_bytes) const;
  void wait_until(std::int64_t time);
  void spend_overhead(std::int64_t picoseconds);
  /// Takes the incoming port for that long, from `earliest` on or as soon as it is free; returns the end.
  std::int64_t take_incoming_port(std::int64_t earliest, std::int64_t duration);

  ModelRates rates_;
  ModelTime time_;
  std::int64_t flops_ = 0;                              ///< counted so far
  std::int64_t outgoing_free_ = 0;                      ///< when the last send's bytes will have left
  std::map<std::int64_t, std::int64_t> incoming_busy_;  ///< begin and end of the intervals in which it is taken
  std::uint64_t num_open_receives_ = 0;                 ///< posted and not waited for
};

}  // namespace lab::comm
