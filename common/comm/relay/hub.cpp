#include "common/comm/relay/hub.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/base/text.h"

namespace lab::comm {
namespace {

constexpr std::size_t kMaxTextBytes = 8 << 10;  // of a failure's reason

}  // namespace

double relay_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RelayWorld::Hub::Hub(int num_ranks, const RelayOptions& options)
    : options_(options), table_(num_ranks), delays_(options.shake_seed.value_or(0)) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    Member& member = members_.emplace_back();
    member.model = ModelClock(options.model_rates);
    member.tracer = RankTracer(rank);
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw UsageError("the relay cannot create a socket: " + std::string(std::strerror(errno)));
    member.relay_end = UniqueFd(ends[0]);
    member.rank_end = UniqueFd(ends[1]);
    const int yes = 1;  // the kernel then names the process that each message is from
    if (::setsockopt(member.relay_end.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0)
      throw UsageError("the relay's socket does not name its sender: " + std::string(std::strerror(errno)));
    member.reader = RelayFrameReader(options.max_message_bytes);
  }
}

UniqueFd RelayWorld::Hub::take_rank_end(int rank) {
  UniqueFd own = std::move(at(rank).rank_end);
  for (Member& member : members_) {
    member.rank_end.reset();
    member.relay_end.reset();
  }
  return own;
}

std::optional<RelayFailure> RelayWorld::Hub::failure() const {
  const std::optional<MatchTable::Failure>& failure = table_.failure();
  if (!failure) return std::nullopt;
  return RelayFailure{failure->rank, failure->exit_code, failure->message, failure->stuck_ranks};
}

void RelayWorld::Hub::serve(RelayWork* work) {
  work_ = work;
  for (Member& member : members_) member.rank_end.reset();
  for (;;) {
    std::vector<pollfd> ends;
    std::vector<int> ranks;
    for (int rank = 0; rank < size(); ++rank) {
      if (at(rank).relay_end.get() < 0) continue;
      ends.push_back(
          {at(rank).relay_end.get(), static_cast<short>(POLLIN | (at(rank).outgoing.empty() ? 0 : POLLOUT)), 0});
      ranks.push_back(rank);
    }
    if (ends.empty()) return;
    const timespec patience = time_to_next_event();
    if (::ppoll(ends.data(), ends.size(), &patience, nullptr) < 0 && errno != EINTR)
      throw UsageError("the relay cannot wait for its ranks: " + std::string(std::strerror(errno)));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if ((ends[i].revents & POLLOUT) != 0) write_to(ranks[i]);
      if ((ends[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(ranks[i]);
    }
    answer_all();
  }
}

void RelayWorld::Hub::read_from(int rank) {
  Member& member = at(rank);
  char bytes[256 << 10];
  iovec place = {bytes, sizeof bytes};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(ucred))];
  msghdr message = {};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const ssize_t got = ::recvmsg(member.relay_end.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return leave(rank, "its process has ended");
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS) {
    ucred sender = {};
    std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
    member.process = sender.pid;
  }
  member.reader.add(bytes, static_cast<std::size_t>(got));
  try {
    while (auto received = member.reader.next()) take(rank, std::move(*received));
  } catch (const std::exception& error) {  // also LibTorch's and the allocator's: a rank must not end the relay
    leave(rank, fmt::format("it sent the relay something invalid: {}", one_line(error.what())));
  }
}

void RelayWorld::Hub::leave(int rank, const std::string& reason) {
  Member& member = at(rank);
  if (!member.over) fail(rank, ExitCode::kCommunication, reason);
  member.over = true;
  stop_waiting(rank);
  member.relay_end.reset();
}

void RelayWorld::Hub::take(int rank, RelayFrameReader::Received received) {
  using Kind = RelayFrame::Kind;
  Member& member = at(rank);
  const RelayFrame& frame = received.frame;
  if (frame.kind == Kind::kPayload) return take_payload(rank, std::move(received));
  if (member.waits_for || member.asks_for_work || member.closes || member.over)
    throw ContractError("a message from a rank that waits for an answer");
  switch (frame.kind) {
    case Kind::kPost: return post(rank, std::move(received));
    case Kind::kWait: {
      member.model.work(frame.flops);
      const auto found = member.posted.find(frame.id);
      if (found == member.posted.end()) throw ContractError("a wait for a message that was never posted");
      member.waits_for = found->second;
      member.waits_for_id = frame.id;
      member.waits_since = relay_seconds();
      if (member.waits_for->stage != LocalPending::Stage::kDone) table_.wait_begins(rank, *member.waits_for);
      return;
    }
    case Kind::kCollect: return collect(rank, std::move(received));
    case Kind::kTask: return;
    case Kind::kNext:
      if (!settled_ && work_ != nullptr && has_failed_by(member.num_given)) {
        member.asks_for_work = frame;
        return;
      }
      return give_work(rank, frame);
    case Kind::kReturnResult: return take_work(rank, std::move(received));
    case Kind::kClose:
      member.closes = true;
      // The time-out restarts with each rank that returns.
      for (Member& other : members_) {
        if (other.closes) other.waits_since = relay_seconds();
      }
      return table_.finish(rank);
    case Kind::kFail:
      member.over = true;
      return fail(rank, static_cast<ExitCode>(frame.exit_code), frame.text.substr(0, kMaxTextBytes));
    case Kind::kPayload:
    case Kind::kPull:
    case Kind::kDone:
    case Kind::kError: break;
  }
  throw ContractError("a frame that only the relay sends");
}

void RelayWorld::Hub::stop_waiting(int rank) {
  Member& member = at(rank);
  if (!member.waits_for) return;
  if (member.waits_for->stage != LocalPending::Stage::kDone) trace_in_vain(member);
  if (table_.waiting_for(rank) != nullptr) table_.wait_ends(rank);
  member.waits_for.reset();
  member.gathers.reset();
}

void RelayWorld::Hub::fail(int rank, ExitCode exit_code, const std::string& message) {
  if (!settled_) own_failures_.push_back({at(rank).num_given, rank, exit_code, message});
}

bool RelayWorld::Hub::has_failed_by(std::uint64_t piece) const {
  return std::any_of(own_failures_.begin(), own_failures_.end(),
                     [piece](const OwnFailure& failure) { return failure.during <= piece; });
}

bool RelayWorld::Hub::goes_on(const Member& member) const {
  if (member.over || member.closes || member.asks_for_work) return false;
  if (!member.waits_for || member.waits_for->stage == LocalPending::Stage::kDone) return true;
  // Matched, but the payload is still with its sender.
  return std::any_of(pulls_.begin(), pulls_.end(), [&](const Pull& pull) {
    const bool is_for_it = pull.match.source == member.waits_for || pull.match.target == member.waits_for;
    return is_for_it && !at(pull.match.source->owner).over;
  });
}

void RelayWorld::Hub::settle() {
  if (settled_ || (own_failures_.empty() && !table_.failed())) return;
  if (std::any_of(members_.begin(), members_.end(), [&](const Member& member) { return goes_on(member); })) return;
  settled_ = true;
  if (own_failures_.empty()) {
    table_.diagnose_again();
  } else {
    const auto first =
        std::min_element(own_failures_.begin(), own_failures_.end(), [](const OwnFailure& a, const OwnFailure& b) {
          return std::make_pair(a.during, a.rank) < std::make_pair(b.during, b.rank);
        });
    table_.blame(first->rank, first->exit_code, first->message);
  }
  for (int rank = 0; rank < size(); ++rank) {
    const std::optional<RelayFrame> asked = std::exchange(at(rank).asks_for_work, std::nullopt);
    if (!asked) continue;
    try {
      give_work(rank, *asked);
    } catch (const std::exception& error) {
      leave(rank, one_line(error.what()));
    }
  }
}

void RelayWorld::Hub::trace_in_vain(Member& member) {
  const std::int64_t now = member.model.now();
  Message message = member.waits_for->message;
  if (!member.gathers && !message.contract_only) return member.tracer.end_message(*member.waits_for, -1, now, 0);
  message.operation += ", which not all members began";
  member.tracer.end_collective(message, {}, {now, now, now, 0});
}

void RelayWorld::Hub::answer_all() {
  const double now = relay_seconds();
  settle();
  ask_for_payloads(now);
  for (int rank = 0; rank < size(); ++rank) {
    Member& member = at(rank);
    if (member.relay_end.get() < 0) continue;
    const bool late = now - member.waits_since > options_.timeout_seconds;
    if (member.waits_for) {
      const bool done = member.waits_for->stage == LocalPending::Stage::kDone;
      if ((done || settled_ || late) && is_due(member, now)) answer_wait(rank);
    } else if (member.closes && !member.over) {
      if ((table_.all_finished() || settled_ || late) && is_due(member, now)) answer_close(rank);
    }
  }
}

bool RelayWorld::Hub::is_due(Member& member, double now) {
  if (!options_.shake_seed) return true;
  if (member.answer_at == 0) member.answer_at = now + delay();
  return now >= member.answer_at;
}

void RelayWorld::Hub::answer_wait(int rank) {
  Member& member = at(rank);
  member.answer_at = 0;
  const std::shared_ptr<Relayed> pending = member.waits_for;
  RelayFrame answer;
  answer.kind = RelayFrame::Kind::kDone;
  at::Tensor payload;
  try {
    table_.conclude(*pending, options_.timeout_seconds);
    const Message& message = pending->message;
    answer.seconds = pending->arrived_seconds;
    answer.step = pending->peer_step;
    const std::uint64_t step = message.direction == Direction::kSend ? message.step : pending->peer_step;
    if (step > member.clock) {
      member.ledger.entry("message").rounds += step - member.clock;
      member.clock = step;
    }
    if (pending->collected) {
      if (tells_model_time()) answer.model_time = pending->collected->model_began;
      member.ledger.add(pending->collected->cost);
      payload = tensor_of_bytes(std::move(pending->collected->payload));
    } else if (message.direction == Direction::kRecv && message.num_bytes() > 0) {
      payload = message.tensor;
    }
    if (!member.gathers && tells_model_time()) answer.model_time = pending->peer_model_posted;
    if (message.contract_only && message.direction == Direction::kRecv) meet(member, pending->peer_model_posted);
    if (!member.gathers && !message.contract_only) {
      const std::int64_t waited_before = member.model.time().waiting;
      const std::int64_t arrived =
          message.direction == Direction::kSend
              ? member.model.wait_send(message.model_posted, pending->peer_model_posted, message.num_bytes())
              : member.model.wait_recv(pending->peer_model_posted, message.model_posted, message.num_bytes());
      member.tracer.end_message(*pending, arrived, member.model.now(), member.model.time().waiting - waited_before);
    }
    if (!member.gathers) {
      member.posted_bytes -= static_cast<std::uint64_t>(message.tensor.nbytes());
      member.posted.erase(member.waits_for_id);
    }
  } catch (const Error& error) {
    answer.kind = RelayFrame::Kind::kError;
    answer.exit_code = static_cast<int>(error.exit_code());
    answer.text = error.what();
    member.told = true;
  }
  stop_waiting(rank);
  send(rank, answer, payload);
}

void RelayWorld::Hub::answer_close(int rank) {
  Member& member = at(rank);
  member.answer_at = 0;
  RelayFrame answer;
  answer.kind = RelayFrame::Kind::kDone;
  try {
    if (!table_.all_finished()) {
      table_.throw_if_failed();
      table_.throw_unfinished(rank, options_.timeout_seconds);
    }
  } catch (const Error& error) {
    answer.kind = RelayFrame::Kind::kError;
    answer.exit_code = static_cast<int>(error.exit_code());
    answer.text = error.what();
  }
  member.closes = false;
  member.over = answer.kind == RelayFrame::Kind::kDone;
  send(rank, answer);
}

void RelayWorld::Hub::send(int rank, RelayFrame answer, const at::Tensor& payload) {
  if (payload.defined()) answer.payload_bytes = payload.nbytes();
  at(rank).outgoing.push_back({to_bytes(answer), payload});
  write_to(rank);
}

void RelayWorld::Hub::write_to(int rank) {
  Member& member = at(rank);
  // A rank that does not read must not block the relay: the rest is sent when its socket takes it.
  while (!member.outgoing.empty()) {
    auto& [frame, payload] = member.outgoing.front();
    const std::size_t payload_bytes = payload.defined() ? payload.nbytes() : 0;
    const std::size_t of_frame = std::min(member.num_written, frame.size()), of_payload = member.num_written - of_frame;
    std::array<iovec, 2> parts = {iovec{frame.data() + of_frame, frame.size() - of_frame}, iovec{}};
    if (payload_bytes > 0) parts[1] = {static_cast<char*>(payload.data_ptr()) + of_payload, payload_bytes - of_payload};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(member.relay_end.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) return leave(rank, "its process has ended");
    member.num_written += static_cast<std::size_t>(sent);
    if (member.num_written < frame.size() + payload_bytes) continue;
    member.outgoing.pop_front();
    member.num_written = 0;
  }
}

timespec RelayWorld::Hub::time_to_next_event() const {
  double next = 1;
  for (const Member& member : members_) {
    if (member.waits_for || (member.closes && !member.over))
      next = std::min(next, member.waits_since + options_.timeout_seconds - relay_seconds());
    if (member.answer_at > 0) next = std::min(next, member.answer_at - relay_seconds());
  }
  for (const Pull& pull : pulls_) {
    if (!pull.asked) next = std::min(next, pull.at_seconds - relay_seconds());
  }
  // Never less than it takes: a wait that ends too early would begin again.
  const auto nanoseconds = static_cast<std::int64_t>(std::max(0.0, next) * 1e9) + 1000;
  return {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
}

RelayWorld::RelayWorld(int num_ranks, const RelayOptions& options) : hub_(std::make_unique<Hub>(num_ranks, options)) {}
RelayWorld::~RelayWorld() = default;
int RelayWorld::rank_end(int rank) const {
  return hub_->rank_end(rank);
}
RelayEnd RelayWorld::join(int rank) {
  const int size = hub_->size();
  const bool shaken = hub_->options().shake_seed.has_value();
  UniqueFd own = hub_->take_rank_end(rank);
  const int descriptor = ::fcntl(own.get(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw UsageError("the relay's socket cannot be kept: " + std::string(std::strerror(errno)));
  return join_by(descriptor, rank, size, shaken);
}
void RelayWorld::serve(RelayWork* work) {
  hub_->serve(work);
}
std::vector<LedgerEntry> RelayWorld::reach_ledger(int rank) const {
  return hub_->reach_ledger(rank);
}
ModelTime RelayWorld::bound_model_time(int rank) const {
  return hub_->bound_model_time(rank);
}
RankTrace RelayWorld::read_trace(int rank) const {
  return hub_->read_trace(rank);
}
std::optional<RelayFailure> RelayWorld::failure() const {
  return hub_->failure();
}

}  // namespace lab::comm
