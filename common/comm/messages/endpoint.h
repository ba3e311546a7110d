#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/group.h"
#include "common/comm/ledger.h"
#include "common/comm/trace/trace.h"
#include "common/comm/transport.h"

namespace lab {

/// What the tracer writes about a message's payload, say "chunks 2 3"; called with the tensor that travels.
using PayloadLabel = std::function<std::string(const at::Tensor&)>;

/// One rank's possessions below the facets: its transport, its ledger, its trace and its logical clock.
class Endpoint {
 public:
  /// `label` is asked about each message when traced: of a send when it is posted, of a receive when it is complete.
  Endpoint(std::shared_ptr<Transport> transport, bool traced, PayloadLabel label = {})
      : transport_(std::move(transport)), traced_(traced), payload_label_(std::move(label)) {}

  Transport& transport() { return *transport_; }
  Ledger& ledger() { return ledger_; }
  const std::vector<TraceEvent>& trace() const { return trace_; }

  /// Whether collectives compare notes before they begin.
  bool careful() const { return careful_; }
  void set_careful(bool careful) { careful_ = careful; }

  /// A message that this rank has posted and will wait for.
  struct Posted {
    Message message;
    std::shared_ptr<Pending> pending;
    std::uint64_t sequence = 0;
    double start_seconds = 0;
    std::string payload_label;  ///< of a send
  };

  /// Posts the message with the clock's next step and counts it in the ledger.
  Posted post(Message message);
  /// Waits for it, moves the clock on and records both in ledger and trace.
  void finish(const Posted& posted);
  /// Counts a built-in collective that began at start_seconds and has just ended, and traces it.
  void record_collective(const LedgerEntry& cost, const Group& group, std::int64_t bytes, SourceLine where,
                         double start_seconds);
  /// Traces a computation that began at start_seconds and has just ended. `turn` is its micro-batch, by which a
  /// picture is coloured.
  void record_computation(const std::string& operation, std::uint64_t turn, double start_seconds);
  /// Gives it up; close() then reports it.
  void abandon(const Posted& posted);
  /// A message for each message that was given up.
  const std::vector<std::string>& abandoned() const { return abandoned_; }

  /// Counts rounds from here on as if nothing had gone before. Every rank does it at the same point of its work, with
  /// no message under way.
  void restart_clock() { clock_ = 0; }

  /// Name under which point-to-point messages are counted; "message" unless a LedgerScope says otherwise.
  void set_label(std::string label) { label_ = std::move(label); }
  const std::string& label() const { return label_; }

  /// Ends this rank's part in good order, together with all others. Errors: ContractError naming the first request that
  /// was dropped without a wait; those of Transport::close().
  void close();

 private:
  std::uint64_t next_sequence(const Message& message);

  std::shared_ptr<Transport> transport_;
  bool traced_;
  bool careful_ = true;
  PayloadLabel payload_label_;
  Ledger ledger_;
  std::vector<TraceEvent> trace_;
  std::map<std::string, std::uint64_t> sequences_;
  std::uint64_t clock_ = 0;
  std::string label_ = "message";
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

}  // namespace lab
