#include "common/comm/shm/lane.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/comm/process/frame.h"

// The protocol, in records on the ring from one rank to another:
//   frame   of a message, with a short payload; of a long one its place in the sender's memory
//   posted  the receiver has posted a receive: a send completes only then
//   taken   the receiver has copied a long payload
//   wanted  the receiver may not read the sender's memory
//   piece   of a payload that is wanted
// A rank reads every record as it arrives, whatever it waits for; a frame whose receive is not posted yet is stored. So no
// ring stays full while its reader waits, and a record that does not fit into a full ring is stored until it does.
namespace lab::comm {
namespace {

enum class Kind : std::uint32_t { kFrame, kPosted, kTaken, kWanted, kPiece };

/// At the start of every record.
struct RecordHead {
  Kind kind;
  std::int32_t tag = 0;  ///< of the channel, as `group` is: of kFrame and kPosted
  std::uint32_t group = 0;
  std::uint32_t unused = 0;
  std::uint64_t id = 0;           ///< of the sender's message; not of kPosted
  std::uint64_t place = 0;        ///< kFrame: address of a long payload; kPiece: its offset
  std::int64_t model_posted = 0;  ///< of kPosted
};
constexpr std::uint64_t kPieceBytes = 16 * 1024;
static_assert(sizeof(RecordHead) + sizeof(FrameHeader) + kInlineBytes <= ShmRing::kLongestRecord, "a frame fits");

struct ShmPending final : ProcessPending {
  bool expects_posted = false;                ///< of a send
  bool expects_taken = false;                 ///< of a send
  std::uint64_t num_arrived = 0;              ///< of a receive: bytes of pieces
  bool has_arrived = false;                   ///< of a receive
  bool is_lost = false;                       ///< of a receive: the sender's memory is gone
  std::unique_ptr<FrameHeader> disagreement;  ///< of a receive: what was sent in its place
};

/// A frame whose receive is not posted yet.
struct EarlyFrame {
  RecordHead head;
  FrameHeader header;
  std::vector<char> payload;
};

/// A payload that its receiver wants in pieces.
struct Push {
  std::shared_ptr<ShmPending> send;
  std::uint64_t id = 0;
  std::uint64_t num_sent = 0;
};

template <typename Value>
using ByChannel = std::unordered_map<Channel, std::deque<Value>, ChannelHash>;

/// The first of a channel's queue, which is taken from it.
template <typename Value>
std::optional<Value> take_first(ByChannel<Value>& queues, const Channel& channel) {
  const auto found = queues.find(channel);
  if (found == queues.end() || found->second.empty()) return std::nullopt;
  std::optional<Value> first = std::move(found->second.front());
  found->second.pop_front();
  return first;
}

/// What this rank has in hand with one neighbour.
struct Peer {
  Neighbours::Member member;
  ShmRing* in = nullptr;
  ShmRing* out = nullptr;
  Doorbell* bell = nullptr;
  std::uint64_t num_sends = 0;
  std::deque<std::string> unsent;  ///< records that did not fit into the ring
  std::deque<Push> pushes;
  std::unordered_map<std::uint64_t, std::shared_ptr<ShmPending>> long_sends;  ///< by id, until taken
  std::unordered_map<std::uint64_t, std::shared_ptr<ShmPending>> in_pieces;   ///< receives, by the sender's id
  ByChannel<std::shared_ptr<ShmPending>> sends;                               ///< their receives are not posted
  ByChannel<std::int64_t> posted;                                             ///< receives whose sends are not
  ByChannel<std::shared_ptr<ShmPending>> receives;                            ///< their frames are not here
  ByChannel<EarlyFrame> frames;
};

/// How long to look before sleeping. A rank with a core of its own just looks; else others must run meanwhile.
class Patience {
 public:
  explicit Patience(bool spins) : spins_(spins) {}
  /// Whether to look again; passes a moment.
  bool lasts() {
    if (num_looks_++ >= (spins_ ? kSpins : kYields)) return false;
    if (spins_) {
#if defined(__x86_64__)
      __builtin_ia32_pause();  // the core's other thread may be the one that is waited for
#endif
    } else {
      ::sched_yield();
    }
    return true;
  }

 private:
  static constexpr int kSpins = 1000, kYields = 4;
  bool spins_;
  int num_looks_ = 0;
};

class LaneOverMemory final : public NearLane {
 public:
  LaneOverMemory(const Neighbours& neighbours, WaitGuard& guard, bool spins)
      : segment_(neighbours.segment),
        guard_(guard),
        rank_(neighbours.members[static_cast<std::size_t>(neighbours.self)].rank),
        spins_(spins),
        bell_(segment_->doorbell(neighbours.self)) {
    for (std::size_t i = 0; i < neighbours.members.size(); ++i) {
      const auto index = static_cast<int>(i);
      if (index == neighbours.self) continue;
      by_rank_[neighbours.members[i].rank] = peers_.size();
      Peer& peer = peers_.emplace_back();
      peer.member = neighbours.members[i];
      peer.in = &segment_->ring(index, neighbours.self);
      peer.out = &segment_->ring(neighbours.self, index);
      peer.bell = &segment_->doorbell(index);
    }
  }

  ~LaneOverMemory() override {
    if (!helper_.joinable()) return;
    attend(false);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    helper_.join();
  }

  std::shared_ptr<ProcessPending> make() override { return std::make_shared<ShmPending>(); }

  void post(const std::shared_ptr<ProcessPending>& base, const FrameHeader& header) override {
    const auto pending = std::static_pointer_cast<ShmPending>(base);
    Peer& peer = peers_[by_rank_.at(pending->message.peer)];
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pending->message.direction == Direction::kSend) {
      post_send(peer, pending, header);
    } else {
      post_receive(peer, pending);
    }
  }

  void wait(ProcessPending& base) override {
    auto& pending = static_cast<ShmPending&>(base);
    if (!look_for(pending)) {
      LaneWait wait(*this, pending);
      guard_.wait(wait, pending.message, pending.sequence);
    }
    if (pending.is_lost) guard_.connection_lost();
    if (pending.disagreement) require_same_contract(*pending.disagreement, pending.message, rank_);
  }

  void attend(bool attends) override {
    std::unique_lock<std::mutex> lock(mutex_);
    attends_ = attends;
    if (attends && !helper_.joinable()) helper_ = std::thread([this] { help(); });
    changed_.notify_all();
    if (attends) return;
    bell_.ring();
    changed_.wait(lock, [this] { return !helps_; });
  }

 private:
  class LaneWait final : public Wait {
   public:
    LaneWait(LaneOverMemory& lane, ShmPending& pending) : lane_(lane), pending_(pending) {}
    End wait() override {
      Patience patience(lane_.spins_);
      for (;;) {
        if (lane_.look_for(pending_)) return pending_.is_lost ? End::kConnectionLost : End::kComplete;
        if (aborted_) return End::kAborted;
        if (!patience.lasts()) lane_.bell_.sleep_unless([this] { return aborted_ || lane_.has_work(); });
      }
    }
    void abort() override {
      aborted_ = true;
      lane_.bell_.ring();
    }
    bool may_have_arrived() override {
      const std::unique_lock<std::mutex> lock(lane_.mutex_, std::try_to_lock);
      return !lock || lane_.is_over(pending_) || lane_.has_work();
    }

   private:
    LaneOverMemory& lane_;
    ShmPending& pending_;
    std::atomic<bool> aborted_{false};
  };

  /// Makes progress. Whether the message is complete, or never will be.
  bool look_for(const ShmPending& pending) {
    const std::lock_guard<std::mutex> lock(mutex_);
    progress();
    return is_over(pending);
  }

  bool is_over(const ShmPending& pending) const {
    if (pending.is_lost) return true;
    if (pending.expects_posted || pending.expects_taken) return false;
    if (pending.message.direction == Direction::kRecv && !pending.has_arrived) return false;
    return peers_[by_rank_.at(pending.message.peer)].unsent.empty();  // else its peer would wait for what is there
  }

  bool has_work() const {
    for (const Peer& peer : peers_) {
      if (!peer.in->is_empty()) return true;
      if ((!peer.unsent.empty() || !peer.pushes.empty()) && peer.out->has_more_room()) return true;
    }
    return false;
  }

  void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return attends_ || stops_; });
      if (stops_) return;
      helps_ = true;
      while (attends_) {
        progress();
        lock.unlock();
        bell_.sleep_unless([this] { return !attends_ || has_work(); });
        lock.lock();
      }
      helps_ = false;
      changed_.notify_all();
    }
  }

  /// A record, in parts that follow each other.
  using Parts = std::initializer_list<std::string_view>;

  template <typename Plain>
  static std::string_view bytes_of(const Plain& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }
  static std::string_view payload_of(const Message& message) {
    return {static_cast<const char*>(message.tensor.data_ptr()), message.num_bytes()};
  }

  static bool try_to_write(Peer& peer, Parts parts) {
    std::uint64_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    char* to = peer.out->reserve(size);
    if (to == nullptr) return false;
    for (const std::string_view part : parts) {
      if (!part.empty()) std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
    peer.out->publish(size);
    peer.bell->ring();
    return true;
  }

  static void write(Peer& peer, Parts parts) {
    if (peer.unsent.empty() && try_to_write(peer, parts)) return;
    std::string& record = peer.unsent.emplace_back();
    for (const std::string_view part : parts) record += part;
  }

  /// Whether anything could be written.
  static bool push_piece(Peer& peer) {
    Push& push = peer.pushes.front();
    const std::string_view payload = payload_of(push.send->message);
    RecordHead head{Kind::kPiece};
    head.id = push.id;
    head.place = push.num_sent;
    const std::string_view piece = payload.substr(push.num_sent, kPieceBytes);
    if (!try_to_write(peer, {bytes_of(head), piece})) return false;
    push.num_sent += piece.size();
    if (push.num_sent == payload.size()) {
      push.send->expects_taken = false;
      peer.pushes.pop_front();
    }
    return true;
  }

  void progress() {
    for (Peer& peer : peers_) {
      take_records(peer);
      while (!peer.unsent.empty() && try_to_write(peer, {peer.unsent.front()})) peer.unsent.pop_front();
      while (!peer.pushes.empty() && peer.unsent.empty() && push_piece(peer)) {
      }
    }
  }

  void post_send(Peer& peer, const std::shared_ptr<ShmPending>& pending, const FrameHeader& header) {
    const Message& message = pending->message;
    RecordHead head{Kind::kFrame};
    head.tag = message.tag;
    head.group = message.group;
    head.id = peer.num_sends++;
    if (is_acknowledged(message)) {
      if (const auto posted = take_first(peer.posted, message)) {
        pending->peer_model_posted = *posted;
      } else {
        pending->expects_posted = true;
        peer.sends[message].push_back(pending);
      }
    }
    std::string_view payload = payload_of(message);
    if (payload.size() > kInlineBytes) {
      head.place = reinterpret_cast<std::uint64_t>(payload.data());
      pending->expects_taken = true;
      peer.long_sends[head.id] = pending;
      payload = {};
    }
    write(peer, {bytes_of(head), bytes_of(header), payload});
  }

  void post_receive(Peer& peer, const std::shared_ptr<ShmPending>& pending) {
    const Message& message = pending->message;
    if (is_acknowledged(message)) {
      RecordHead head{Kind::kPosted};
      head.tag = message.tag;
      head.group = message.group;
      head.model_posted = message.model_posted;
      write(peer, {bytes_of(head)});
    }
    if (const auto frame = take_first(peer.frames, message)) {
      match(peer, pending, frame->head, frame->header, {frame->payload.data(), frame->payload.size()});
    } else {
      peer.receives[message].push_back(pending);
    }
  }

  /// Both ends of a message are here.
  static void match(Peer& peer, const std::shared_ptr<ShmPending>& pending, const RecordHead& head,
                    const FrameHeader& header, std::string_view payload) {
    const Message& message = pending->message;
    pending->has_arrived = true;
    if (!same_contract(header, message)) {
      pending->disagreement = std::make_unique<FrameHeader>(header);
      return;
    }
    pending->peer_step = header.step;
    pending->peer_model_posted = header.model_posted;
    const std::uint64_t num_bytes = message.num_bytes();
    if (num_bytes <= kInlineBytes) {
      if (num_bytes > 0) std::memcpy(message.tensor.data_ptr(), payload.data(), num_bytes);
      return;
    }
    RecordHead answer{Kind::kTaken};
    answer.id = head.id;
    if (!peer.member.readable) {
      answer.kind = Kind::kWanted;
      pending->has_arrived = false;
      peer.in_pieces[head.id] = pending;
    } else if (!read_memory(peer.member.process, head.place, message.tensor.data_ptr(), num_bytes)) {
      pending->is_lost = true;
      return;
    }
    write(peer, {bytes_of(answer)});
  }

  static void take_records(Peer& peer) {
    bool took = false;
    for (ShmRing::Record record = peer.in->front(); record.bytes != nullptr; record = peer.in->front()) {
      take(peer, {record.bytes, record.size});
      peer.in->pop(record);
      took = true;
    }
    if (took && peer.in->is_short_of_room()) peer.bell->ring();
  }

  static void take(Peer& peer, std::string_view record) {
    RecordHead head;
    std::memcpy(&head, record.data(), sizeof(head));
    record.remove_prefix(sizeof(head));
    const auto channel = [&](Direction direction) {
      return Channel{direction, peer.member.rank, head.group, head.tag};
    };
    switch (head.kind) {
      case Kind::kFrame: {
        FrameHeader header;
        std::memcpy(&header, record.data(), sizeof(header));
        record.remove_prefix(sizeof(header));
        if (const auto pending = take_first(peer.receives, channel(Direction::kRecv))) {
          match(peer, *pending, head, header, record);
        } else {
          peer.frames[channel(Direction::kRecv)].push_back({head, header, {record.begin(), record.end()}});
        }
        break;
      }
      case Kind::kPosted:
        if (const auto pending = take_first(peer.sends, channel(Direction::kSend))) {
          (*pending)->peer_model_posted = head.model_posted;
          (*pending)->expects_posted = false;
        } else {
          peer.posted[channel(Direction::kSend)].push_back(head.model_posted);
        }
        break;
      case Kind::kTaken: {
        const auto found = peer.long_sends.find(head.id);
        found->second->expects_taken = false;
        peer.long_sends.erase(found);
        break;
      }
      case Kind::kWanted: {
        const auto found = peer.long_sends.find(head.id);
        peer.pushes.push_back({found->second, head.id, 0});
        peer.long_sends.erase(found);
        break;
      }
      case Kind::kPiece: {
        const auto found = peer.in_pieces.find(head.id);
        ShmPending& pending = *found->second;
        std::memcpy(static_cast<char*>(pending.message.tensor.data_ptr()) + head.place, record.data(), record.size());
        pending.num_arrived += record.size();
        if (pending.num_arrived < pending.message.num_bytes()) break;
        pending.has_arrived = true;
        peer.in_pieces.erase(found);
        break;
      }
    }
  }

  const std::shared_ptr<ShmSegment> segment_;
  WaitGuard& guard_;
  const int rank_;
  const bool spins_;
  Doorbell& bell_;
  std::vector<Peer> peers_;  ///< the neighbours; this rank itself has messages for others only
  std::unordered_map<int, std::size_t> by_rank_;

  std::mutex mutex_;  ///< of all that is in hand: this rank's thread or the helper holds it
  std::condition_variable changed_;
  std::thread helper_;
  std::atomic<bool> attends_{false};
  bool helps_ = false, stops_ = false;
};

}  // namespace

std::unique_ptr<NearLane> lane_over_memory(const Neighbours& neighbours, WaitGuard& guard, bool spins) {
  return std::make_unique<LaneOverMemory>(neighbours, guard, spins);
}

}  // namespace lab::comm
