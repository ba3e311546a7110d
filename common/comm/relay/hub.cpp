#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <unordered_map>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/comm/messages/ledger.h"
#include "common/comm/messages/match_table.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/gathering.h"
#include "common/comm/relay/payload_tensor.h"
#include "common/comm/relay/relay_world.h"

namespace lab::comm {
namespace {

using Clock = std::chrono::steady_clock;

double now_seconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

constexpr std::size_t kMaxNames = 10000;        // of operations and files, of all ranks together
constexpr std::size_t kMaxPosted = 1u << 20;    // messages of a rank that it has not waited for
constexpr std::size_t kMaxTextBytes = 8 << 10;  // of a failure's reason

}  // namespace

/// One thread: everything happens in the order in which it is read.
class RelayWorld::Hub {
 public:
  Hub(int num_ranks, const RelayOptions& options)
      : options_(options), table_(num_ranks), delays_(options.shake_seed.value_or(0)) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      Member& member = members_.emplace_back();
      int ends[2] = {-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw UsageError("the relay cannot create a socket: " + std::string(std::strerror(errno)));
      member.relay_end = UniqueFd(ends[0]);
      member.rank_end = UniqueFd(ends[1]);
      member.reader = RelayFrameReader(options.max_message_bytes);
    }
  }

  int size() const { return table_.size(); }
  const RelayOptions& options() const { return options_; }
  int rank_end(int rank) const { return at(rank).rank_end.get(); }
  UniqueFd take_rank_end(int rank) {
    UniqueFd own = std::move(at(rank).rank_end);
    for (Member& member : members_) {
      member.rank_end.reset();
      member.relay_end.reset();
    }
    return own;
  }
  std::vector<LedgerEntry> ledger_of(int rank) const { return at(rank).ledger.entries(); }
  std::optional<RelayFailure> failure() const {
    const std::optional<MatchTable::Failure>& failure = table_.failure();
    if (!failure) return std::nullopt;
    return RelayFailure{failure->rank, failure->exit_code, failure->message};
  }

  void serve(RelayWork* work) {
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
      if (::poll(ends.data(), ends.size(), milliseconds_to_next_timeout()) < 0 && errno != EINTR)
        throw UsageError("the relay cannot wait for its ranks: " + std::string(std::strerror(errno)));
      for (std::size_t i = 0; i < ends.size(); ++i) {
        if ((ends[i].revents & POLLOUT) != 0) write_to(ranks[i]);
        if ((ends[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(ranks[i]);
      }
      answer_all();
    }
  }

 private:
  /// Texts that outlive all messages, as SourceLine needs them.
  class Names {
   public:
    const char* keep(const std::string& name) {
      if (names_.size() >= kMaxNames && names_.count(name) == 0) return "";
      return names_.insert(name).first->c_str();
    }

   private:
    std::set<std::string> names_;
  };

  struct Relayed final : LocalPending {
    using LocalPending::LocalPending;
    std::uint64_t relay_step = 0;               ///< by the relay's clock; of a receive, once matched, its sender's
    std::optional<CollectiveResult> collected;  ///< of a collective, once all members have begun it
  };

  /// What the relay knows of one rank.
  struct Member {
    UniqueFd relay_end, rank_end;
    RelayFrameReader reader{0};
    std::string outgoing;  ///< not written yet
    std::unordered_map<std::uint64_t, std::shared_ptr<Relayed>> posted;
    std::shared_ptr<Relayed> waits_for;
    std::shared_ptr<Relayed> gathers;  ///< the same, if it is a collective
    std::uint64_t waits_for_id = 0;
    double waits_since = 0;  ///< for a message, or for the others to close
    double answer_at = 0;    ///< once there is an answer; 0: not drawn yet
    bool closes = false;
    bool over = false;  ///< it has closed, failed or gone
    std::uint64_t clock = 0;
    Ledger ledger;
  };

  Member& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  const Member& at(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  void read_from(int rank) {
    Member& member = at(rank);
    char bytes[256 << 10];
    const ssize_t got = ::recv(member.relay_end.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return leave(rank, "its process has ended");
    member.reader.add(bytes, static_cast<std::size_t>(got));
    try {
      while (auto received = member.reader.next()) take(rank, std::move(*received));
    } catch (const std::exception& error) {  // also LibTorch's and the allocator's: a rank must not end the relay
      leave(rank, fmt::format("it sent the relay something invalid: {}", one_line(error.what())));
    }
  }

  /// The rank is gone, or must go.
  void leave(int rank, const std::string& reason) {
    Member& member = at(rank);
    if (!member.over) table_.fail(rank, ExitCode::kCommunication, reason);
    member.over = true;
    stop_waiting(rank);
    member.relay_end.reset();
  }

  void take(int rank, RelayFrameReader::Received received) {
    using Kind = RelayFrame::Kind;
    Member& member = at(rank);
    const RelayFrame& frame = received.frame;
    if (member.waits_for || member.closes || member.over)
      throw ContractError("a message from a rank that waits for an answer");
    switch (frame.kind) {
      case Kind::kPost: return post(rank, std::move(received));
      case Kind::kWait: {
        const auto found = member.posted.find(frame.id);
        if (found == member.posted.end()) throw ContractError("a wait for a message that was never posted");
        member.waits_for = found->second;
        member.waits_for_id = frame.id;
        member.waits_since = now_seconds();
        if (member.waits_for->stage != LocalPending::Stage::kDone) table_.wait_begins(rank, *member.waits_for);
        return;
      }
      case Kind::kCollect: return collect(rank, std::move(received));
      case Kind::kTask: return;
      case Kind::kNext: return give_work(rank);
      case Kind::kHandIn:
        if (work_ == nullptr) throw ContractError("work that nobody asked for");
        return work_->done(rank, std::move(received.payload), member.ledger.entries());
      case Kind::kClose:
        member.closes = true;
        // The time-out restarts with each rank that returns.
        for (Member& other : members_) {
          if (other.closes) other.waits_since = now_seconds();
        }
        return table_.finish(rank);
      case Kind::kFail:
        member.over = true;
        return table_.fail(rank, static_cast<ExitCode>(frame.exit_code), frame.text.substr(0, kMaxTextBytes));
      case Kind::kDone:
      case Kind::kError: break;
    }
    throw ContractError("a frame that only the relay sends");
  }

  void post(int rank, RelayFrameReader::Received received) {
    Member& member = at(rank);
    const RelayFrame& frame = received.frame;
    if (frame.channel.peer < 0 || frame.channel.peer >= size() || frame.channel.peer == rank)
      throw ContractError(fmt::format("a message for rank {}", frame.channel.peer));
    if (member.posted.size() >= kMaxPosted || !member.posted.emplace(frame.id, nullptr).second)
      throw ContractError("too many messages at once, or two with one number");
    Message message;
    static_cast<Channel&>(message) = frame.channel;
    message.operation = names_.keep(frame.operation);
    message.where = {names_.keep(frame.file), frame.line};
    message.tensor = tensor_of(frame, std::move(received.payload));
    message.contract_only = frame.contract_only;
    message.step = frame.step;  // the rank's own clock, which its peer hears of; the relay counts by another
    // What collectives agree on before they begin costs nothing. All else is a message, whatever the rank calls it.
    const bool counts = !message.contract_only;
    if (counts) count(member, message);
    const auto mine = std::make_shared<Relayed>(rank, std::move(message));
    mine->relay_step = counts ? member.clock + 1 : 0;
    member.posted[frame.id] = mine;
    const auto match = table_.post(mine);
    if (!match || !match->agrees()) return;
    if (match->num_bytes() > 0) match->target->message.tensor = match->source->message.tensor;
    match->complete(now_seconds());
    static_cast<Relayed&>(*match->target).relay_step = static_cast<Relayed&>(*match->source).relay_step;
  }

  /// A tensor with the frame's payload, or without memory of its own for a receive.
  at::Tensor tensor_of(const RelayFrame& frame, std::string payload) const {
    const std::uint64_t num_bytes = payload_bytes_of(frame.dtype, frame.sizes);
    if (num_bytes > options_.max_message_bytes) throw ContractError(fmt::format("a tensor of {} B", num_bytes));
    if (frame.channel.direction == Direction::kSend && !frame.contract_only)
      return payload_tensor(frame.dtype, frame.sizes, std::move(payload));
    if (!payload.empty()) throw ContractError(fmt::format("a payload of {} B for nothing", payload.size()));
    return at::empty(frame.sizes, at::TensorOptions(static_cast<at::ScalarType>(frame.dtype)));
  }

  static void count(Member& member, const Message& message) {
    const bool sends = message.direction == Direction::kSend;
    LedgerEntry cost;
    cost.operation = "message";
    cost.calls = 1;
    cost.messages = sends ? 1 : 0;
    (sends ? cost.bytes_sent : cost.bytes_received) = message.num_bytes();
    member.ledger.add(cost);
  }

  void collect(int rank, RelayFrameReader::Received received) {
    Message message;
    message.direction = Direction::kRecv;
    message.group = received.frame.channel.group;
    message.operation = names_.keep(received.frame.operation);
    message.where = {names_.keep(received.frame.file), received.frame.line};
    message.tensor = at::empty({0}, at::kByte);
    auto results = gatherings_.begin(rank, size(), std::move(received.frame), std::move(received.payload));
    Member& mine = at(rank);
    mine.waits_for = mine.gathers = std::make_shared<Relayed>(rank, std::move(message));
    mine.waits_since = now_seconds();
    if (results) {
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

  void give_work(int rank) {
    if (work_ == nullptr) throw ContractError("work was asked for, but there is none");
    Member& member = at(rank);
    member.ledger = Ledger();
    member.clock = 0;
    RelayFrame answer;
    answer.kind = RelayFrame::Kind::kDone;
    std::optional<std::string> work = work_->next(rank);
    if (!work) answer.text = "no more";
    const std::string payload = work.value_or("");
    answer.payload_bytes = payload.size();
    member.outgoing += to_bytes(answer);
    member.outgoing += payload;
    write_to(rank);
  }

  void stop_waiting(int rank) {
    Member& member = at(rank);
    if (!member.waits_for) return;
    if (table_.waiting_for(rank) != nullptr) table_.wait_ends(rank);
    member.waits_for.reset();
    member.gathers.reset();
  }

  /// Answers every rank whose wait is over: its message is complete, the world has failed, or it took too long.
  void answer_all() {
    const double now = now_seconds();
    for (int rank = 0; rank < size(); ++rank) {
      Member& member = at(rank);
      if (member.relay_end.get() < 0) continue;
      const bool late = now - member.waits_since > options_.timeout_seconds;
      if (member.waits_for) {
        const bool done = member.waits_for->stage == LocalPending::Stage::kDone;
        if ((done || table_.failed() || late) && is_due(member, now)) answer_wait(rank);
      } else if (member.closes && !member.over) {
        if ((table_.all_finished() || table_.failed() || late) && is_due(member, now)) answer_close(rank);
      }
    }
  }

  /// Whether the answer may be sent, which is late on purpose if the world is shaken.
  bool is_due(Member& member, double now) {
    if (!options_.shake_seed) return true;
    if (member.answer_at == 0)
      member.answer_at = now + std::uniform_real_distribution<double>(0, options_.max_delay_seconds)(delays_);
    return now >= member.answer_at;
  }

  void answer_wait(int rank) {
    Member& member = at(rank);
    member.answer_at = 0;
    const std::shared_ptr<Relayed> pending = member.waits_for;
    RelayFrame answer;
    answer.kind = RelayFrame::Kind::kDone;
    std::string payload;
    try {
      table_.conclude(*pending, options_.timeout_seconds);
      const Message& message = pending->message;
      answer.seconds = pending->arrived_seconds;
      answer.step = pending->peer_step;
      if (pending->relay_step > member.clock) {
        LedgerEntry cost;
        cost.operation = "message";
        cost.rounds = pending->relay_step - member.clock;
        member.ledger.add(cost);
        member.clock = pending->relay_step;
      }
      if (pending->collected) {
        member.ledger.add(pending->collected->cost);
        payload = std::move(pending->collected->payload);
      } else if (message.direction == Direction::kRecv && message.num_bytes() > 0) {
        payload.assign(static_cast<const char*>(message.tensor.data_ptr()), message.num_bytes());
      }
      if (!member.gathers) member.posted.erase(member.waits_for_id);
    } catch (const Error& error) {
      answer.kind = RelayFrame::Kind::kError;
      answer.exit_code = static_cast<int>(error.exit_code());
      answer.text = error.what();
    }
    stop_waiting(rank);
    answer.payload_bytes = payload.size();
    member.outgoing += to_bytes(answer);
    member.outgoing += payload;
    write_to(rank);
  }

  void answer_close(int rank) {
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
    member.outgoing += to_bytes(answer);
    write_to(rank);
  }

  void write_to(int rank) {
    Member& member = at(rank);
    while (!member.outgoing.empty()) {
      const ssize_t sent =
          ::send(member.relay_end.get(), member.outgoing.data(), member.outgoing.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent <= 0) return leave(rank, "its process has ended");
      member.outgoing.erase(0, static_cast<std::size_t>(sent));
    }
  }

  int milliseconds_to_next_timeout() const {
    double next = 1;
    for (const Member& member : members_) {
      if (member.waits_for || (member.closes && !member.over))
        next = std::min(next, member.waits_since + options_.timeout_seconds - now_seconds());
      if (member.answer_at > 0) next = std::min(next, member.answer_at - now_seconds());
    }
    return static_cast<int>(std::max(0.0, next) * 1000) + 1;
  }

  const RelayOptions options_;
  MatchTable table_;
  Gatherings gatherings_;
  RelayWork* work_ = nullptr;
  std::mt19937_64 delays_;
  std::vector<Member> members_;
  Names names_;
};

RelayWorld::RelayWorld(int num_ranks, const RelayOptions& options) : hub_(std::make_unique<Hub>(num_ranks, options)) {}
RelayWorld::~RelayWorld() = default;
int RelayWorld::rank_end(int rank) const {
  return hub_->rank_end(rank);
}
RelayEnd RelayWorld::join(int rank) {
  const int size = hub_->size();
  const std::optional<std::uint64_t> shake_seed = hub_->options().shake_seed;
  UniqueFd own = hub_->take_rank_end(rank);
  const int descriptor = ::fcntl(own.get(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) throw UsageError("the relay's socket cannot be kept: " + std::string(std::strerror(errno)));
  return join_by(descriptor, rank, size, shake_seed);
}
void RelayWorld::serve(RelayWork* work) {
  hub_->serve(work);
}
std::vector<LedgerEntry> RelayWorld::ledger_of(int rank) const {
  return hub_->ledger_of(rank);
}
std::optional<RelayFailure> RelayWorld::failure() const {
  return hub_->failure();
}

}  // namespace lab::comm
