#include "common/comm/shm/peer.h"

#include <cstring>

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

// Longest payload that travels through the ring: up to here two copies cost less than a call of the kernel.
constexpr std::uint64_t kShortBytes = 32 * 1024;
constexpr std::uint64_t kPieceBytes = 16 * 1024;

template <typename Plain>
std::string_view plain_bytes(const Plain& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
std::string_view view_payload(const Pending& pending) {
  return {static_cast<const char*>(pending.message.tensor.data_ptr()), pending.num_bytes};
}

/// The first of the queue that is one of those, which is taken from it.
template <typename Value, typename IsOne>
std::optional<Value> take_first(std::deque<Value>& queue, const IsOne& is_one) {
  for (auto first = queue.begin(); first != queue.end(); ++first) {
    if (!is_one(*first)) continue;
    std::optional<Value> taken = std::move(*first);
    if (first == queue.begin()) {
      queue.pop_front();
    } else {
      queue.erase(first);
    }
    return taken;
  }
  return std::nullopt;
}

}  // namespace

/// At the start of every record.
struct Peer::RecordHead {
  enum class Kind : std::uint32_t { kFrame, kPosted, kTaken, kWanted, kPiece };

  Kind kind;
  std::int32_t tag = 0;  ///< of the channel, as `group` is: of kFrame and kPosted
  std::uint32_t group = 0;
  std::uint32_t unused = 0;
  std::uint64_t id = 0;           ///< of the sender's message; not of kPosted
  std::uint64_t place = 0;        ///< kFrame: address of a long payload; kPiece: its offset
  std::int64_t model_posted = 0;  ///< of kPosted

  static RecordHead of(std::string_view record) {
    RecordHead head;
    std::memcpy(&head, record.data(), sizeof(head));
    return head;
  }
  /// Whether the message belongs to the same channel.
  bool fits(const Message& message) const { return group == message.group && tag == message.tag; }
};

/// A payload that its receiver wants in pieces.
struct Peer::Push {
  ShmPending* send = nullptr;
  std::uint64_t id = 0;
  std::uint64_t num_sent = 0;
};

Peer::Peer(const Neighbours& neighbours, int index)
    : member_(neighbours.members[static_cast<std::size_t>(index)]),
      in_(neighbours.segment->ring(index, neighbours.self)),
      out_(neighbours.segment->ring(neighbours.self, index)),
      bell_(neighbours.segment->doorbell(index)) {
  static_assert(sizeof(RecordHead) + sizeof(FrameHeader) + kShortBytes <= ShmRing::kLongestRecord, "a frame fits");
}

Peer::~Peer() = default;

void Peer::progress() {
  take_records();
  while (!unsent_.empty() && try_to_write({unsent_.front()})) unsent_.pop_front();
  while (!pushes_.empty() && unsent_.empty() && push_piece()) {
  }
}

bool Peer::has_work() const {
  return !in_.is_empty() || ((!unsent_.empty() || !pushes_.empty()) && out_.has_more_room());
}

bool Peer::try_to_write(Parts parts) {
  std::uint64_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  char* to = out_.reserve(size);
  if (to == nullptr) return false;
  for (const std::string_view part : parts) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  out_.publish(size);
  bell_.ring();
  return true;
}

void Peer::write(Parts parts) {
  if (unsent_.empty() && try_to_write(parts)) return;
  std::string& record = unsent_.emplace_back();
  for (const std::string_view part : parts) record += part;
}

/// Whether anything could be written.
bool Peer::push_piece() {
  Push& push = pushes_.front();
  const std::string_view payload = view_payload(*push.send);
  RecordHead head{RecordHead::Kind::kPiece};
  head.id = push.id;
  head.place = push.num_sent;
  const std::string_view piece = payload.substr(push.num_sent, kPieceBytes);
  if (!try_to_write({plain_bytes(head), piece})) return false;
  push.num_sent += piece.size();
  if (push.num_sent == payload.size()) {
    push.send->expects_taken = false;
    pushes_.pop_front();
  }
  return true;
}

void Peer::post_send(ShmPending& pending) {
  const Message& message = pending.message;
  RecordHead head{RecordHead::Kind::kFrame};
  head.tag = message.tag;
  head.group = message.group;
  head.id = num_sends_++;
  if (is_acknowledged(message)) {
    const auto posted = take_first(posted_, [&](const RecordHead& one) { return one.fits(message); });
    if (posted) {
      pending.peer_model_posted = posted->model_posted;
    } else {
      pending.expects_posted = true;
      sends_.push_back(&pending);
    }
  }
  std::string_view payload = view_payload(pending);
  if (payload.size() > kShortBytes) {
    head.place = reinterpret_cast<std::uint64_t>(payload.data());
    pending.expects_taken = true;
    long_sends_[head.id] = &pending;
    payload = {};
  }
  write({plain_bytes(head), plain_bytes(make_header(message)), payload});
}

void Peer::post_receive(ShmPending& pending) {
  const Message& message = pending.message;
  if (is_acknowledged(message)) {
    RecordHead head{RecordHead::Kind::kPosted};
    head.tag = message.tag;
    head.group = message.group;
    head.model_posted = message.model_posted;
    write({plain_bytes(head)});
  }
  const auto frame = take_first(frames_, [&](const std::string& one) { return RecordHead::of(one).fits(message); });
  if (frame) {
    match(pending, *frame);
  } else {
    receives_.push_back(&pending);
  }
}

/// Both ends of a message are here.
void Peer::match(ShmPending& pending, std::string_view frame) {
  const Message& message = pending.message;
  const RecordHead head = RecordHead::of(frame);
  FrameHeader header;
  std::memcpy(&header, frame.data() + sizeof(head), sizeof(header));
  pending.has_arrived = true;
  if (!same_contract(header, message)) {
    pending.disagreement = std::make_unique<FrameHeader>(header);
    return;
  }
  pending.peer_step = header.step;
  pending.peer_model_posted = header.model_posted;
  const std::uint64_t num_bytes = pending.num_bytes;
  if (num_bytes <= kShortBytes) {
    if (num_bytes > 0) std::memcpy(message.tensor.data_ptr(), frame.data() + sizeof(head) + sizeof(header), num_bytes);
    return;
  }
  RecordHead answer{RecordHead::Kind::kTaken};
  answer.id = head.id;
  if (!member_.readable) {
    answer.kind = RecordHead::Kind::kWanted;
    pending.has_arrived = false;
    in_pieces_[head.id] = &pending;
  } else if (!read_memory(member_.process, head.place, message.tensor.data_ptr(), num_bytes)) {
    pending.is_lost = true;
    return;
  }
  write({plain_bytes(answer)});
}

void Peer::take_records() {
  bool took = false;
  for (ShmRing::Record record = in_.front(); record.bytes != nullptr; record = in_.front()) {
    take({record.bytes, record.size});
    in_.pop(record);
    took = true;
  }
  if (took && in_.is_short_of_room()) bell_.ring();
}

void Peer::take(std::string_view record) {
  const RecordHead head = RecordHead::of(record);
  const auto is_meant = [&](const ShmPending* pending) { return head.fits(pending->message); };
  switch (head.kind) {
    case RecordHead::Kind::kFrame:
      if (const auto pending = take_first(receives_, is_meant)) {
        match(**pending, record);
      } else {
        frames_.emplace_back(record);
      }
      break;
    case RecordHead::Kind::kPosted:
      if (const auto pending = take_first(sends_, is_meant)) {
        (*pending)->peer_model_posted = head.model_posted;
        (*pending)->expects_posted = false;
      } else {
        posted_.push_back(head);
      }
      break;
    case RecordHead::Kind::kTaken: {
      const auto found = long_sends_.find(head.id);
      found->second->expects_taken = false;
      long_sends_.erase(found);
      break;
    }
    case RecordHead::Kind::kWanted: {
      const auto found = long_sends_.find(head.id);
      pushes_.push_back({found->second, head.id, 0});
      long_sends_.erase(found);
      break;
    }
    case RecordHead::Kind::kPiece: {
      const auto found = in_pieces_.find(head.id);
      ShmPending& pending = *found->second;
      record.remove_prefix(sizeof(head));
      std::memcpy(static_cast<char*>(pending.message.tensor.data_ptr()) + head.place, record.data(), record.size());
      pending.num_arrived += record.size();
      if (pending.num_arrived < pending.num_bytes) break;
      pending.has_arrived = true;
      in_pieces_.erase(found);
      break;
    }
  }
}

}  // namespace lab::comm
