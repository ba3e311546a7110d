#include "common/comm/messages/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/base/errors.h"

namespace lab::comm {
namespace {

std::string name_of(const Message& message) {
  const bool sends = message.direction == Direction::kSend;
  return fmt::format("{} {} rank {} ({})", sends ? "isend" : "irecv", sends ? "to" : "from", message.peer,
                     message.where.text());
}

/// A checksum at the speed of memory: a change of any bytes changes it, but for a chance of 2^-64.
std::uint64_t checksum_of_bytes(const char* bytes, std::uint64_t num_bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kLanes = 4, kStride = kLanes * sizeof(std::uint64_t);
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  const auto mix = [&](std::uint64_t lane, std::uint64_t word) { lanes[lane] = (lanes[lane] ^ word) * kOdd; };
  std::uint64_t at = 0;
  for (; at + kStride <= num_bytes; at += kStride) {
    std::uint64_t words[kLanes];
    std::memcpy(words, bytes + at, kStride);
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) mix(lane, words[lane]);
  }
  for (; at < num_bytes; ++at) mix(at % kLanes, static_cast<unsigned char>(bytes[at]));
  std::uint64_t sum = num_bytes;
  for (const std::uint64_t lane : lanes) sum = (sum ^ lane ^ (lane >> 32)) * kOdd;
  return sum;
}

}  // namespace

UnderWay::Bytes UnderWay::bytes_of(const Message& message) {
  if (message.tensor.is_meta() || message.num_bytes() == 0) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(message.tensor.data_ptr());
  return {begin, begin + message.num_bytes()};
}

std::uint64_t UnderWay::checksum_of(const Bytes& bytes) {
  return checksum_of_bytes(reinterpret_cast<const char*>(bytes.begin), bytes.end - bytes.begin);
}

const UnderWay::Entry* UnderWay::overlapping(const ByBegin& some, std::uint64_t longest, const Bytes& bytes) {
  const std::uintptr_t earliest = bytes.begin - std::min<std::uintptr_t>(bytes.begin, longest);
  for (auto one = some.lower_bound(earliest); one != some.end() && one->first < bytes.end; ++one) {
    if (one->second->bytes.end > bytes.begin) return one->second;
  }
  return nullptr;
}

void UnderWay::require_apart(const Message& message, int rank) const {
  const Bytes bytes = bytes_of(message);
  if (bytes.begin == bytes.end) return;
  const Entry* other = overlapping(receives_, longest_, bytes);
  if (other == nullptr && message.direction == Direction::kRecv) other = overlapping(sends_, longest_, bytes);
  if (other == nullptr) return;
  throw ContractError(
      fmt::format("rank {}: the tensor of its {} shares memory with that of its {}, which it has not waited for; hint: "
                  "wait() first, or use another tensor",
                  rank, name_of(message), name_of(*other->message)));
}

UnderWay::Place UnderWay::add(const Message& message, Watch watch) {
  const Place place = entries_.insert(entries_.end(), {&message, {}, false, 0});
  if (watch != Watch::kListed) place->bytes = bytes_of(message);
  const Bytes& bytes = place->bytes;
  if (bytes.begin == bytes.end) return place;
  longest_ = std::max<std::uint64_t>(longest_, bytes.end - bytes.begin);
  const bool sends = message.direction == Direction::kSend;
  (sends ? sends_ : receives_).emplace(bytes.begin, &*place);
  place->is_summed = sends && watch == Watch::kBytes;
  if (place->is_summed) place->checksum = checksum_of(bytes);
  return place;
}

bool UnderWay::ended(std::optional<Place>& place) {
  if (!place) return false;
  const Entry& entry = **place;
  const bool changed = entry.is_summed && entry.checksum != checksum_of(entry.bytes);
  if (entry.bytes.begin != entry.bytes.end) {
    ByBegin& some = entry.message->direction == Direction::kSend ? sends_ : receives_;
    const auto [first, last] = some.equal_range(entry.bytes.begin);
    some.erase(std::find_if(first, last, [&](const auto& one) { return one.second == &entry; }));
  }
  entries_.erase(*place);
  place.reset();
  return changed;
}

std::string UnderWay::first() const {
  return entries_.empty() ? "" : name_of(*entries_.front().message);
}

namespace {

constexpr std::size_t kMostTraced = 1u << 17;  // about 40 MB, so that endless messages do not fill memory

/// What was known of the message when it was posted.
TraceEvent event_of(const Endpoint::Posted& posted) {
  const PostedOp op = posted.message().posted_op(posted.sequence);
  TraceEvent event;
  static_cast<Channel&>(event) = op;
  event.sequence = op.sequence;
  event.label = posted.payload_label;
  event.bytes = static_cast<std::int64_t>(op.bytes);
  event.operation = op.operation;
  event.where = op.where;
  event.model_posted = posted.message().model_posted;
  return event;
}

}  // namespace

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

Endpoint::Posted Endpoint::post(Message message, bool at_once) {
  if (careful_) under_way_.require_apart(message, transport_->rank());
  const bool sends = message.direction == Direction::kSend;
  message.step = clock_ + 1;
  ledger_.add_message(label_, sends, message.peer, message.num_bytes());

  Posted posted;
  model_.work(flops());
  posted.model_start = model_.now();
  message.model_posted = sends ? model_.post_send(message.num_bytes()) : model_.post_recv();
  if (traced_) {
    posted.sequence = sequences_[message]++;
    posted.start_seconds = transport_->now();
    if (sends && payload_label_) posted.payload_label = payload_label_(message.tensor);
  }
  posted.pending = sends ? transport_->start_send(std::move(message)) : transport_->start_recv(std::move(message));
  posted.place = under_way_.add(posted.message(), !careful_ ? UnderWay::Watch::kListed
                                                  : at_once ? UnderWay::Watch::kPlace
                                                            : UnderWay::Watch::kBytes);
  return posted;
}

void Endpoint::finish(Posted& posted) {
  model_.work(flops());
  const std::int64_t waited_before = model_.time().waiting;
  const Message& message = posted.message();
  const bool sends = message.direction == Direction::kSend;
  try {
    transport_->wait(*posted.pending);
  } catch (...) {
    if (traced_) keep(event_of(posted), posted.start_seconds, posted.model_start, waited_before);  // never_completed()
    throw;
  }
  if (under_way_.ended(posted.place))
    throw ContractError(
        fmt::format("rank {}: the tensor of its isend to rank {} ({}) was changed before wait(); hint: "
                    "wait() first, or send a copy",
                    transport_->rank(), message.peer, message.where.text()));
  const std::int64_t peer_posted = posted.pending->peer_model_posted;
  const std::int64_t model_arrived = sends ? model_.wait_send(message.model_posted, peer_posted, message.num_bytes())
                                           : model_.wait_recv(peer_posted, message.model_posted, message.num_bytes());
  // The sender's step travels with the message, so the clock is the length of the longest chain of messages up to here.
  const std::uint64_t step = sends ? message.step : posted.pending->peer_step;
  if (step > clock_) {
    LedgerEntry cost;
    cost.operation = label_;
    cost.rounds = step - clock_;
    ledger_.add(cost);
    clock_ = step;
  }
  if (!traced_) return;
  TraceEvent event = event_of(posted);
  event.round = step;
  if (!sends && payload_label_) event.label = payload_label_(message.tensor);
  event.arrived_seconds = posted.pending->arrived_seconds;
  event.model_arrived = model_arrived;
  keep(std::move(event), posted.start_seconds, posted.model_start, waited_before);
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
  event.kind = TraceKind::kCollective;
  event.peer = -1;
  event.group = group.id;
  event.bytes = bytes;
  event.operation = cost.operation;
  event.where = begun.where.text();
  event.model_posted = begun.model_began;
  keep(std::move(event), begun.start_seconds, model_start, waited_before);
}

void Endpoint::record_computation(const std::string& operation, std::uint64_t turn, double start_seconds) {
  if (!traced_) return;
  const std::int64_t model_start = model_.now();
  model_.work(flops());
  TraceEvent event;
  event.kind = TraceKind::kComputation;
  event.peer = -1;
  event.sequence = turn;
  event.operation = operation;
  keep(std::move(event), start_seconds, model_start, model_.time().waiting);
}

void Endpoint::keep(TraceEvent event, double start_seconds, std::int64_t model_start, std::int64_t waited_before) {
  event.rank = transport_->rank();
  event.start_seconds = start_seconds;
  event.end_seconds = transport_->now();
  event.model_start = model_start;
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

void Endpoint::abandon(Posted& posted) {
  const Message& message = posted.message();
  const bool sends = message.direction == Direction::kSend;
  abandoned_.push_back(fmt::format(
      "rank {} dropped its {} {} rank {} ({}) without waiting for it; hint: keep the Request and call wait()",
      transport_->rank(), sends ? "isend" : "irecv", sends ? "to" : "from", message.peer, message.where.text()));
  forget(posted);
}

void Endpoint::forget(Posted& posted) {
  under_way_.ended(posted.place);
  transport_->abandon(posted.pending);
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
