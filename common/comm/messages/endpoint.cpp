#include "common/comm/messages/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "common/api/errors.h"

namespace lab::comm {
namespace {

std::string get_name(const Message& message) {
  const bool sends = message.direction == Direction::kSend;
  return fmt::format("{} {} rank {} ({})", sends ? "isend" : "irecv", sends ? "to" : "from", message.peer,
                     message.where.text());
}

std::string_view view_bytes(const Message& message) {
  const std::uint64_t num_bytes = message.num_bytes();
  if (message.tensor.is_meta() || num_bytes == 0) return {};
  return {static_cast<const char*>(message.tensor.data_ptr()), num_bytes};
}

bool overlap(std::string_view a, std::string_view b) {
  const std::less<const char*> is_before;
  return is_before(a.begin(), b.end()) && is_before(b.begin(), a.end());
}

bool is_summed(const Pending& pending) {
  return pending.watch == Pending::Watch::kBytes && pending.message.direction == Direction::kSend;
}

/// A checksum at the speed of memory: a change of any bytes changes it, but for a chance of 2^-64.
std::uint64_t compute_checksum(std::string_view bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kLanes = 4, kStride = kLanes * sizeof(std::uint64_t);
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const auto mix = [&](std::uint64_t lane, std::uint64_t word) { lanes[lane] = (lanes[lane] ^ word) * kOdd; };
  std::uint64_t at = 0;
  for (; at + kStride <= bytes.size(); at += kStride) {
    std::uint64_t words[kLanes];
    std::memcpy(words, bytes.data() + at, kStride);
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) mix(lane, words[lane]);
  }
  for (; at < bytes.size(); ++at) mix(at % kLanes, static_cast<unsigned char>(bytes[at]));
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) sum = (sum ^ lane ^ (lane >> 32)) * kOdd;
  return sum;
}

constexpr std::size_t kMostTraced = 1u << 17;  // about 40 MB, so that endless messages do not fill memory

/// What is known of the message when it is posted.
TraceEvent make_event(const Message& message, std::uint64_t sequence) {
  const PostedOp op = message.posted_op(sequence);
  TraceEvent event;
  static_cast<Channel&>(event) = op;
  event.sequence = sequence;
  event.bytes = static_cast<std::int64_t>(op.bytes);
  event.operation = op.operation;
  event.where = op.where;
  event.model_posted = message.model_posted;
  return event;
}

}  // namespace

void UnderWay::require_apart(const Message& message, int rank) const {
  const std::string_view bytes = view_bytes(message);
  const bool receives = message.direction == Direction::kRecv;
  const auto other = std::find_if(posted_.begin(), posted_.end(), [&](const Entry& entry) {
    return (receives || entry.receives) && overlap(bytes, entry.bytes);
  });
  if (other == posted_.end()) return;
  throw ContractError(
      fmt::format("rank {}: the tensor of its {} shares memory with that of its {}, which it has not waited for; hint: "
                  "wait() first, or use another tensor",
                  rank, get_name(message), get_name(other->pending->message)));
}

void UnderWay::add(Pending& pending, Pending::Watch watch) {
  pending.watch = watch;
  const bool is_watched = watch != Pending::Watch::kListed;
  posted_.push_back({&pending, is_watched ? view_bytes(pending.message) : std::string_view(),
                     pending.message.direction == Direction::kRecv});
  if (is_summed(pending)) pending.checksum = compute_checksum(posted_.back().bytes);
}

bool UnderWay::ended(const Pending& pending) {
  const auto place =
      std::find_if(posted_.begin(), posted_.end(), [&](const Entry& entry) { return entry.pending == &pending; });
  if (place == posted_.end()) return false;
  const std::string_view bytes = place->bytes;
  posted_.erase(place);
  return is_summed(pending) && pending.checksum != compute_checksum(bytes);
}

std::string UnderWay::first() const {
  return posted_.empty() ? "" : get_name(posted_.front().pending->message);
}

Endpoint::Endpoint(std::shared_ptr<Transport> transport, bool traced, PayloadLabel label, WorkCounter flops,
                   const ModelRates& rates)
    : transport_(std::move(transport)),
      traced_(traced),
      payload_label_(std::move(label)),
      work_counter_([flops = std::move(flops)] { return flops ? std::min(flops(), kMaxModelFlops) : 0; }),
      model_(rates) {
  transport_->set_work_counter(work_counter_);
  restart_clock();
}

std::shared_ptr<Pending> Endpoint::post(Message&& message, bool at_once) {
  if (careful_) under_way_.require_apart(message, transport_->rank());
  const bool sends = message.direction == Direction::kSend;
  const std::uint64_t num_bytes = message.num_bytes();
  message.step = clock_ + 1;
  ledger_.add_message(label_, sends, message.peer, num_bytes);
  model_.work(flops());
  const std::int64_t model_start = model_.now();
  message.model_posted = sends ? model_.post_send(num_bytes) : model_.post_recv();
  std::unique_ptr<TraceEvent> event;
  if (traced_) {
    event = std::make_unique<TraceEvent>(make_event(message, sequences_[message]++));
    event->start_seconds = transport_->now();
    event->model_start = model_start;
    if (sends && payload_label_) event->label = payload_label_(message.tensor);
  }
  std::shared_ptr<Pending> pending = transport_->post(std::move(message));
  pending->event = std::move(event);
  under_way_.add(*pending, !careful_ ? Pending::Watch::kListed
                           : at_once ? Pending::Watch::kPlace
                                     : Pending::Watch::kBytes);
  return pending;
}

void Endpoint::finish(Pending& pending) {
  model_.work(flops());
  const std::int64_t waited_before = model_.time().waiting;
  const Message& message = pending.message;
  const bool sends = message.direction == Direction::kSend;
  try {
    transport_->wait(pending);
  } catch (...) {
    if (pending.event) keep(std::move(*pending.event), waited_before);  // never_completed()
    throw;
  }
  if (under_way_.ended(pending))
    throw ContractError(
        fmt::format("rank {}: the tensor of its isend to rank {} ({}) was changed before wait(); hint: "
                    "wait() first, or send a copy",
                    transport_->rank(), message.peer, message.where.text()));
  const std::int64_t peer_posted = pending.peer_model_posted;
  const std::int64_t model_arrived = sends ? model_.wait_send(message.model_posted, peer_posted, pending.num_bytes)
                                           : model_.wait_recv(peer_posted, message.model_posted, pending.num_bytes);
  // The sender's step travels with the message, so the clock is the length of the longest chain of messages up to here.
  const std::uint64_t step = sends ? message.step : pending.peer_step;
  if (step > clock_) {
    ledger_.entry(label_).rounds += step - clock_;
    clock_ = step;
  }
  if (!pending.event) return;
  TraceEvent& event = *pending.event;
  event.round = step;
  if (!sends && payload_label_) event.label = payload_label_(message.tensor);
  event.arrived_seconds = pending.arrived_seconds;
  event.model_arrived = model_arrived;
  keep(std::move(event), waited_before);
}

BegunCollective Endpoint::begin_collective(SourceLine where) {
  model_.work(flops());
  return {where, transport_->now(), model_.now()};
}

void Endpoint::record_collective(const LedgerEntry& cost, const Group& group, std::int64_t bytes,
                                 const BegunCollective& begun) {
  ledger_.add(cost);
  const std::int64_t model_start = model_.now(), waited_before = model_.time().waiting;
  model_.collective(begun.model_began, cost);
  if (!traced_) return;
  TraceEvent event;
  event.start_seconds = begun.start_seconds;
  event.model_start = model_start;
  event.kind = TraceKind::kCollective;
  event.peer = -1;
  event.group = group.id;
  event.bytes = bytes;
  event.operation = cost.operation;
  event.where = begun.where.text();
  event.model_posted = begun.model_began;
  keep(std::move(event), waited_before);
}

void Endpoint::record_agreement(std::int64_t latest) {
  LedgerEntry cost;
  cost.operation = "agree";
  cost.calls = 1;
  ledger_.add(cost);
  model_.meet(latest);
}

void Endpoint::record_computation(const std::string& operation, std::uint64_t turn, double start_seconds) {
  if (!traced_) return;
  TraceEvent event;
  event.start_seconds = start_seconds;
  event.model_start = model_.now();
  model_.work(flops());
  event.kind = TraceKind::kComputation;
  event.peer = -1;
  event.sequence = turn;
  event.operation = operation;
  keep(std::move(event), model_.time().waiting);
}

void Endpoint::keep(TraceEvent event, std::int64_t waited_before) {
  event.rank = transport_->rank();
  event.end_seconds = transport_->now();
  event.model_end = model_.now();
  event.model_waited = model_.time().waiting - waited_before;
  event.model_period = model_period_;
  if (trace_.size() > kMostTraced) return;
  if (trace_.size() == kMostTraced) {
    event.kind = TraceKind::kComputation;
    event.operation = "what follows is not traced";
  }
  trace_.push_back(std::move(event));
}

void Endpoint::restart_clock() {
  clock_ = 0;
  ++model_period_;
  model_.restart(flops());
}

ModelTime Endpoint::model_time() {
  model_.work(flops());
  return model_.time();
}

void Endpoint::abandon(std::shared_ptr<Pending> pending) {
  const Message& message = pending->message;
  const bool sends = message.direction == Direction::kSend;
  abandoned_.push_back(fmt::format(
      "rank {} dropped its {} {} rank {} ({}) without waiting for it; hint: keep the Request and call wait()",
      transport_->rank(), sends ? "isend" : "irecv", sends ? "to" : "from", message.peer, message.where.text()));
  forget(std::move(pending));
}

void Endpoint::forget(std::shared_ptr<Pending> pending) {
  under_way_.ended(*pending);
  transport_->abandon(std::move(pending));
}

void Endpoint::require_all_finished() const {
  const std::string first = under_way_.first();
  if (!first.empty())
    throw ContractError(
        fmt::format("rank {} has not waited for its {}; hint: wait() for each Request before you return",
                    transport_->rank(), first));
}

void Endpoint::close() {
  if (!abandoned_.empty()) throw ContractError(abandoned_.front());
  transport_->close();
}

}  // namespace lab::comm
