#include <fmt/format.h>

#include <algorithm>

#include "common/comm/group.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/hub.h"

namespace lab::comm {
namespace {

constexpr std::size_t kMaxPosted = 1u << 20;       // messages of a rank that it has not waited for
constexpr std::uint64_t kMaxContracts = 1u << 14;  // that a rank sends in one piece of work, which are free

}  // namespace

void RelayWorld::Hub::check_works(const Member& member) const {
  if (work_ != nullptr && !member.works) throw ContractError("a message that belongs to no work");
}

void RelayWorld::Hub::check_contract(Member& member, const RelayFrame& frame) {
  if ((frame.channel.group & kCollectiveChannel) == 0 || frame.channel.tag != 0)
    throw ContractError("a comparison of contracts that is not a collective's");
  member.num_contracts += member.works && frame.channel.direction == Direction::kSend ? 1 : 0;
  if (member.num_contracts > kMaxContracts)
    throw ContractError(fmt::format("more than {} comparisons of contracts in one task", kMaxContracts));
}

void RelayWorld::Hub::post(int rank, RelayFrameReader::Received received) {
  Member& member = at(rank);
  check_works(member);
  const RelayFrame& frame = received.frame;
  member.model.work(frame.flops);
  if (frame.channel.peer < 0 || frame.channel.peer >= size() || frame.channel.peer == rank)
    throw ContractError(fmt::format("a message for rank {}", frame.channel.peer));
  if (member.posted.size() >= kMaxPosted || !member.posted.emplace(frame.id, nullptr).second)
    throw ContractError("too many messages at once, or two with one number");
  Message message;
  static_cast<Channel&>(message) = frame.channel;
  message.operation = names_.keep(frame.operation);
  message.where = {names_.keep(frame.file), frame.line};
  message.tensor = rebuild_tensor(frame, std::move(received.payload));
  message.contract_only = frame.contract_only;
  // What collectives agree on before they begin costs nothing, so it tells the other end nothing but that both agree. All
  // else is a message, whatever the rank calls it.
  const bool counts = !message.contract_only;
  if (!counts) {
    check_contract(member, frame);
    message.model_posted = member.model.now();
  }
  std::unique_ptr<TraceEvent> event;
  if (counts) {
    message.step = member.clock + 1;
    const std::int64_t model_start = member.model.now();
    const bool sends = message.direction == Direction::kSend;
    member.ledger.add_message("message", sends, message.peer, message.num_bytes());
    message.model_posted = sends ? member.model.post_send(message.num_bytes()) : member.model.post_recv();
    event = member.tracer.post(message, model_start);
  }
  member.posted_bytes += static_cast<std::uint64_t>(message.tensor.nbytes());
  if (member.posted_bytes > options_.max_posted_bytes)
    throw ContractError(fmt::format("messages of {} B that it has not waited for", member.posted_bytes));
  const auto mine = std::make_shared<Relayed>(rank, std::move(message));
  mine->id = frame.id;
  mine->event = std::move(event);
  mine->payload_later = frame.payload_later;
  member.posted[frame.id] = mine;
  const auto match = table_.post(mine);
  if (match && !match->agrees() && frame.contract_only) disagree(std::min(rank, mine->message.peer), mine->violation);
  if (!match || !match->agrees()) return;
  if (static_cast<const Relayed&>(*match->source).payload_later) {
    pulls_.push_back({*match, relay_seconds() + delay(), false});
  } else {
    deliver(*match);
  }
}

void RelayWorld::Hub::deliver(const Match& match) {
  if (match.num_bytes() > 0) match.target->message.tensor = match.source->message.tensor;
  match.complete(relay_seconds());
}

void RelayWorld::Hub::ask_for_payloads(double now) {
  // A payload is fetched from its sender only when its message is due.
  for (Pull& pull : pulls_) {
    const auto& source = static_cast<const Relayed&>(*pull.match.source);
    if (pull.asked || now < pull.at_seconds || at(source.owner).relay_end.get() < 0) continue;
    pull.asked = true;
    RelayFrame request;
    request.kind = RelayFrame::Kind::kPull;
    request.id = source.id;
    send(source.owner, request);
  }
}

void RelayWorld::Hub::take_payload(int rank, RelayFrameReader::Received received) {
  const auto pull = std::find_if(pulls_.begin(), pulls_.end(), [&](const Pull& each) {
    const auto& source = static_cast<const Relayed&>(*each.match.source);
    return each.asked && source.owner == rank && source.id == received.frame.id;
  });
  if (pull == pulls_.end()) throw ContractError("a payload that was not asked for");
  Message& message = pull->match.source->message;
  message.tensor = payload_tensor(static_cast<int>(message.tensor.scalar_type()), message.tensor.sizes().vec(),
                                  std::move(received.payload));
  deliver(pull->match);
  pulls_.erase(pull);
}

at::Tensor RelayWorld::Hub::rebuild_tensor(const RelayFrame& frame, std::string payload) const {
  const std::uint64_t num_bytes = count_payload_bytes(frame.dtype, frame.sizes);
  if (num_bytes > options_.max_message_bytes) throw ContractError(fmt::format("a tensor of {} B", num_bytes));
  if (frame.channel.direction == Direction::kSend && !frame.contract_only && !frame.payload_later)
    return payload_tensor(frame.dtype, frame.sizes, std::move(payload));
  if (!payload.empty()) throw ContractError(fmt::format("a payload of {} B for nothing", payload.size()));
  return at::empty(frame.sizes, at::TensorOptions(static_cast<at::ScalarType>(frame.dtype)));
}

void RelayWorld::Hub::collect(int rank, RelayFrameReader::Received received) {
  Message message;
  message.direction = Direction::kRecv;
  message.group = received.frame.channel.group;
  message.operation = names_.keep(received.frame.operation);
  message.where = {names_.keep(received.frame.file), received.frame.line};
  message.tensor = at::empty({0}, at::kByte);
  check_works(at(rank));
  at(rank).model.work(received.frame.flops);
  auto results = gatherings_.begin(rank, size(), std::move(received.frame), std::move(received.payload));
  Member& mine = at(rank);
  mine.waits_for = mine.gathers = std::make_shared<Relayed>(rank, std::move(message));
  mine.waits_since = relay_seconds();
  if (results) {
    if (!results->front().violation.empty()) disagree(results->front().rank, results->front().violation);
    begin_in_model_time(*results);
    for (CollectiveResult& result : *results) {
      Relayed& pending = *at(result.rank).gathers;
      pending.stage = LocalPending::Stage::kDone;
      pending.violation = result.violation;
      pending.collected = std::move(result);
    }
    return;
  }
  for (int other = 0; other < size(); ++other) {
    const std::optional<int> missing = gatherings_.missing_for(other);
    if (!missing || !at(other).gathers) continue;
    at(other).gathers->message.peer = *missing;
    table_.wait_begins(other, *at(other).gathers);
  }
}

void RelayWorld::Hub::begin_in_model_time(std::vector<CollectiveResult>& results) {
  std::int64_t began = 0;
  for (const CollectiveResult& result : results) began = std::max(began, at(result.rank).model.now());
  for (CollectiveResult& result : results) {
    Member& member = at(result.rank);
    const ModelTime before = member.model.time();
    // It begins before what its members agree on first.
    const std::int64_t start = before.total == member.met ? member.met_from : before.total;
    result.model_began = began;
    member.model.collective(began, result.cost);
    const std::int64_t waited = before.total - start + member.model.time().waiting - before.waiting;
    member.tracer.end_collective(member.gathers->message, result.cost, {start, began, member.model.now(), waited});
  }
}

void RelayWorld::Hub::meet(Member& member, std::int64_t other) {
  const std::int64_t before = member.model.now();
  member.model.meet(other);
  if (before != member.met) member.met_from = before;
  member.met = member.model.now();
}

void RelayWorld::Hub::give_work(int rank, const RelayFrame& frame) {
  if (work_ == nullptr) throw ContractError("work was asked for, but there is none");
  Member& member = at(rank);
  ++member.num_given;
  member.ledger = Ledger();
  member.clock = member.num_contracts = 0;
  member.met = member.met_from = 0;
  member.model.work(frame.flops);
  member.model.restart(frame.flops);
  member.tracer = RankTracer(rank);
  RelayFrame answer;
  answer.kind = RelayFrame::Kind::kDone;
  std::optional<std::string> work = work_->next(rank, member.process);
  if (!work) answer.text = "no more";
  member.works = work.has_value();
  send(rank, answer, work ? tensor_of_bytes(std::move(*work)) : at::Tensor());
}

void RelayWorld::Hub::take_work(int rank, RelayFrameReader::Received received) {
  Member& member = at(rank);
  if (!member.works) throw ContractError("a result that was not asked for");
  member.works = false;
  member.model.work(received.frame.flops);
  // What a rank is told of a failure it has not paid for.
  if (!member.told)
    work_->done(rank, member.process, std::move(received.payload),
                {member.ledger.entries(), member.model.time(), read_trace(rank)});
}

}  // namespace lab::comm
