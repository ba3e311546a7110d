#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/comm/group.h"
#include "common/comm/messages/ledger.h"
#include "common/comm/messages/message.h"
#include "common/comm/messages/model_time.h"
#include "common/comm/trace/trace.h"
#include "common/comm/transport.h"

namespace lab::comm {

/// A rank's messages that are posted and not yet waited for, and that nobody touches their memory meanwhile.
class UnderWay {
 public:
  /// Errors    ContractError: the message's memory overlaps that of another one whose place is watched, and either of
  ///           them is a receive
  void require_apart(const Message& message, int rank) const;

  /// It lives until it has ended.
  void add(Pending& pending, Pending::Watch watch);

  /// Forgets the message, if that was not done before. Whether its bytes were watched and are not as they were when it
  /// was added.
  bool ended(const Pending& pending);

  /// "isend to rank 2 (student/ring.cpp:41)": the first that was posted; empty: there is none.
  std::string first() const;

 private:
  struct Entry {
    const Pending* pending;
    std::string_view bytes;  ///< none, unless its place is watched
    bool receives;
  };

  /// In the order of posting, and waited for in about this order. Each new one is compared with all of them, which lie in
  /// one row: 20,000 take a tenth of a second in all.
  std::vector<Entry> posted_;
};

/// What the tracer writes about a message's payload, e.g. "chunks 2 3"; called with the tensor that is sent.
using PayloadLabel = std::function<std::string(const at::Tensor&)>;

/// The floating-point operations of this rank so far.
using WorkCounter = std::function<std::int64_t()>;

/// A built-in collective that this rank has begun.
struct BegunCollective {
  SourceLine where;
  double start_seconds = 0;
  std::int64_t model_began = 0;  ///< the latest clock of its members; this rank's own until they have agreed on it
};

/// Per-rank state below the facets: its transport, its ledger, its trace, its logical clock and its model time.
class Endpoint {
 public:
  /// When traced, `label` is called for each message: for a send when it is posted, for a receive when it is complete.
  /// Without `flops`, work takes no model time; nor do operations after the first kMaxModelFlops, which only tensors
  /// without data can need.
  Endpoint(std::shared_ptr<Transport> transport, bool traced, PayloadLabel label = {}, WorkCounter flops = {},
           const ModelRates& rates = {});

  Transport& transport() { return *transport_; }
  Ledger& ledger() { return ledger_; }
  const std::vector<TraceEvent>& trace() const { return trace_; }

  /// Whether collectives check, before they begin, that all ranks agree, and whether a message's memory is watched
  /// while it is under way.
  bool careful() const { return careful_; }
  void set_careful(bool careful) { careful_ = careful; }

  /// Posts the message with the clock's next step and counts it in the ledger. `at_once`: the caller waits for it before
  /// anything else happens.
  /// Errors    ContractError, nothing posted: its memory is that of another message under way, in a careful world
  std::shared_ptr<Pending> post(Message&& message, bool at_once);
  /// Waits for it, advances the clock and records it in ledger and trace.
  /// Errors    ContractError: what was sent has been changed meanwhile, in a careful world; those of Transport::wait()
  void finish(Pending& pending);
  /// Errors    ContractError that names the first message that is posted and not yet waited for
  void require_all_finished() const;

  BegunCollective begin_collective(SourceLine where);
  /// Counts it, now that it has ended, in ledger and model time, and traces it.
  void record_collective(const LedgerEntry& cost, const Group& group, std::int64_t bytes, const BegunCollective& begun);
  /// Counts that all members have agreed on something, the last of them at this model time.
  void record_agreement(std::int64_t latest);
  /// Traces a computation that began at start_seconds and has just ended. `turn` is its micro-batch, which determines
  /// its colour in a picture. In model time it is the work since the rank's last message, collective or computation.
  void record_computation(const std::string& operation, std::uint64_t turn, double start_seconds);
  /// Abandons it; close() then reports it.
  void abandon(std::shared_ptr<Pending> pending);
  /// The same for a message whose wait has failed, which was reported then.
  void forget(std::shared_ptr<Pending> pending);
  /// One line for each message that was abandoned.
  const std::vector<std::string>& abandoned() const { return abandoned_; }

  /// Counts rounds and model time from zero again. Every rank does it at the same point of its work, with no message in
  /// flight.
  void restart_clock();

  /// This rank's model time until now, since it was last restarted.
  ModelTime model_time();

  /// Name under which point-to-point messages are counted; "message" unless a LedgerScope says otherwise.
  void set_label(std::string label) { label_ = std::move(label); }
  const std::string& label() const { return label_; }

  /// Orderly shutdown, together with all other ranks. Errors: ContractError naming the first request that was dropped
  /// without a wait; those of Transport::close().
  void close();

 private:
  std::int64_t flops() const { return work_counter_(); }
  /// Keeps an event that has just ended.
  /// `waited_before`: the model time that this rank had waited when it began.
  void keep(TraceEvent event, std::int64_t waited_before);

  std::shared_ptr<Transport> transport_;
  bool traced_;
  bool careful_ = true;
  PayloadLabel payload_label_;
  WorkCounter work_counter_;
  Ledger ledger_;
  std::vector<TraceEvent> trace_;
  std::unordered_map<Channel, std::uint64_t, ChannelHash> sequences_;  ///< posted so far, if traced
  std::uint64_t clock_ = 0;
  ModelClock model_;
  std::uint32_t model_period_ = 0;
  std::string label_ = "message";
  UnderWay under_way_;
  std::vector<std::string> abandoned_;
};

/// Counts this rank's point-to-point messages under `label` while it lives.
class LedgerScope {
 public:
  LedgerScope(Endpoint& endpoint, const std::string& label) : endpoint_(endpoint), before_(endpoint.label()) {
    endpoint_.set_label(label);
  }
  ~LedgerScope() { endpoint_.set_label(before_); }
  LedgerScope(const LedgerScope&) = delete;
  LedgerScope& operator=(const LedgerScope&) = delete;

 private:
  Endpoint& endpoint_;
  std::string before_;
};

}  // namespace lab::comm

namespace lab {
using comm::Endpoint;
using comm::LedgerScope;
using comm::PayloadLabel;
using comm::WorkCounter;
}  // namespace lab
