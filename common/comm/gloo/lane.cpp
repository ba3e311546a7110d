#include "common/comm/gloo/lane.h"

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/transport/unbound_buffer.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "common/comm/gloo/lifeline.h"
#include "common/comm/gloo/slots.h"

// The protocol. A message is a frame (header, and the payload if it is short) on its channel's slot, and a long payload
// on its own slot. The receiver acknowledges it on a slot of its own: with the model time of its receive, as soon as
// that is posted. All parts are posted with the operation, so that anything both sides have posted completes without
// help from this thread, in whatever order the waits come.
//
// The sender expects the acknowledgement before it sends the frame. Gloo delivers in the order of posting between two
// ranks, so once a frame is here its acknowledgement can leave, and waiting for that takes no help from the sender's
// thread either. From a channel's second message on, the sender expects the next acknowledgement one message ahead:
// then it leaves with the receive that it acknowledges, without asking first.
namespace lab::comm {
namespace {

using gloo::transport::UnboundBuffer;

/// A header with room for a short payload, registered with Gloo once and reused.
struct Frame {
  explicit Frame(gloo::Context& context)
      : memory(new char[kFrameBytes]), buffer(context.createUnboundBuffer(memory.get(), kFrameBytes)) {}

  char* payload() { return memory.get() + sizeof(FrameHeader); }

  std::unique_ptr<char[]> memory;  ///< not zeroed: a page that no payload reaches is never touched
  std::unique_ptr<UnboundBuffer> buffer;
};

/// What the receiver tells the sender, registered with Gloo once and reused.
struct Acknowledgement {
  explicit Acknowledgement(gloo::Context& context)
      : buffer(context.createUnboundBuffer(&model_posted, sizeof(model_posted))) {}

  std::int64_t model_posted = 0;
  std::unique_ptr<UnboundBuffer> buffer;
};

struct GlooPending final : ProcessPending {
  using ProcessPending::ProcessPending;

  std::uint64_t sequence = 0;  ///< n-th message of its channel
  std::unique_ptr<Frame> frame;
  std::unique_ptr<UnboundBuffer> payload;            ///< null when the payload is in the frame
  std::unique_ptr<Acknowledgement> acknowledgement;  ///< null for parts of collectives
};

struct SlotsOfChannel {
  std::uint64_t num_posted = 0;
  std::unique_ptr<Acknowledgement> next_acknowledgement;  ///< of what is sent next, if it is expected already
};

/// Whether the kernel lets this thread of the process sleep until something wakes it. False if unknown.
bool is_asleep(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/stat", thread));
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const std::size_t end_of_name = line.rfind(") ");
  return end_of_name != std::string::npos && line.compare(end_of_name, 3, ") S") == 0;
}

/// For a buffer's send or receive.
class BufferWait final : public Wait {
 public:
  BufferWait(UnboundBuffer& buffer, Direction direction, pid_t thread)
      : buffer_(buffer), direction_(direction), thread_(thread) {}

  End wait() override {
    const End end = end_of_wait();
    has_ended_ = true;
    return end;
  }
  /// Gloo has woken the waiting thread before it reads what the peer sent later, and cannot be asked.
  bool may_have_arrived() override { return has_ended_ || !is_asleep(thread_); }
  void abort() override {
    if (direction_ == Direction::kSend) {
      buffer_.abortWaitSend();
    } else {
      buffer_.abortWaitRecv();
    }
  }

 private:
  End end_of_wait() {
    try {
      const bool complete =
          direction_ == Direction::kSend ? buffer_.waitSend(nullptr, kForGloo) : buffer_.waitRecv(nullptr, kForGloo);
      return complete ? End::kComplete : End::kAborted;
    } catch (const gloo::Exception&) {
      return End::kConnectionLost;
    }
  }

  UnboundBuffer& buffer_;
  const Direction direction_;
  const pid_t thread_;  ///< that waits
  std::atomic<bool> has_ended_{false};
};

class LaneOverGloo final : public Lane {
 public:
  LaneOverGloo(gloo::Context& context, WaitGuard& guard) : context_(context), guard_(guard) {}

  std::shared_ptr<ProcessPending> post(Message&& posted) override {
    const auto pending = std::make_shared<GlooPending>(std::move(posted));
    const Message& message = pending->message;
    SlotsOfChannel& channel = channels_[message];
    pending->sequence = channel.num_posted++;
    pending->frame = idle_frame();
    if (message.num_bytes() > kInlineBytes)
      pending->payload = context_.createUnboundBuffer(message.tensor.data_ptr(), message.num_bytes());
    try {
      if (message.direction == Direction::kSend) {
        post_send(*pending, channel);
      } else {
        post_receive(*pending);
      }
    } catch (const gloo::Exception&) {
      guard_.connection_lost();
    }
    return pending;
  }

  void wait(ProcessPending& base) override {
    auto& pending = static_cast<GlooPending&>(base);
    const Direction direction = pending.message.direction;
    const bool sends = direction == Direction::kSend;
    wait_for(*pending.frame->buffer, direction, pending);
    if (!sends) accept_frame(pending);
    if (pending.payload) wait_for(*pending.payload, direction, pending);
    if (pending.acknowledgement) {
      wait_for(*pending.acknowledgement->buffer, opposite(direction), pending);
      if (sends) pending.peer_model_posted = pending.acknowledgement->model_posted;
      idle_acknowledgements_.push_back(std::move(pending.acknowledgement));
    }
    idle_frames_.push_back(std::move(pending.frame));
  }

 private:
  void wait_for(UnboundBuffer& buffer, Direction direction, const GlooPending& pending) {
    BufferWait wait(buffer, direction, thread_);
    guard_.wait(wait, pending.message);
  }

  void post_send(GlooPending& pending, SlotsOfChannel& channel) {
    const Message& m = pending.message;
    const FrameHeader header = make_header(m);
    const std::uint64_t num_bytes = m.num_bytes();
    const bool fits = !pending.payload;
    std::memcpy(pending.frame->memory.get(), &header, sizeof(header));
    if (fits && num_bytes > 0) std::memcpy(pending.frame->payload(), m.tensor.data_ptr(), num_bytes);
    if (is_acknowledged(m)) {
      std::unique_ptr<Acknowledgement>& expected = channel.next_acknowledgement;
      pending.acknowledgement = expected ? std::move(expected) : expect_acknowledgement(m, pending.sequence);
    }
    pending.frame->buffer->send(m.peer, frame_slot(m.group, m.tag), 0, sizeof(FrameHeader) + (fits ? num_bytes : 0));
    if (!fits) pending.payload->send(m.peer, payload_slot(m, pending.sequence), 0, num_bytes);
    if (is_acknowledged(m) && pending.sequence > 0)
      channel.next_acknowledgement = expect_acknowledgement(m, pending.sequence + 1);
  }

  void post_receive(GlooPending& pending) {
    const Message& m = pending.message;
    if (is_acknowledged(m)) {
      pending.acknowledgement = idle_acknowledgement();
      pending.acknowledgement->model_posted = m.model_posted;
      pending.acknowledgement->buffer->send(m.peer, acknowledgement_slot(m, pending.sequence));
    }
    pending.frame->buffer->recv(m.peer, frame_slot(m.group, m.tag), 0, kFrameBytes);
    if (pending.payload) pending.payload->recv(m.peer, payload_slot(m, pending.sequence), 0, m.num_bytes());
  }

  /// Compares the sender's contract with what this rank expects; copies the payload from the frame if it is there.
  void accept_frame(GlooPending& pending) {
    FrameHeader header;
    std::memcpy(&header, pending.frame->memory.get(), sizeof(header));
    const Message& m = pending.message;
    require_same_contract(header, m, context_.rank);
    pending.peer_step = header.step;
    pending.peer_model_posted = header.model_posted;
    if (!pending.payload && m.num_bytes() > 0)
      std::memcpy(m.tensor.data_ptr(), pending.frame->payload(), m.num_bytes());
  }

  /// The acknowledgement of the channel's n-th message.
  std::unique_ptr<Acknowledgement> expect_acknowledgement(const Message& message, std::uint64_t sequence) {
    std::unique_ptr<Acknowledgement> expected = idle_acknowledgement();
    expected->buffer->recv(message.peer, acknowledgement_slot(message, sequence));
    return expected;
  }

  std::unique_ptr<Frame> idle_frame() {
    if (idle_frames_.empty()) return std::make_unique<Frame>(context_);
    std::unique_ptr<Frame> idle = std::move(idle_frames_.back());
    idle_frames_.pop_back();
    return idle;
  }

  std::unique_ptr<Acknowledgement> idle_acknowledgement() {
    if (idle_acknowledgements_.empty()) return std::make_unique<Acknowledgement>(context_);
    std::unique_ptr<Acknowledgement> idle = std::move(idle_acknowledgements_.back());
    idle_acknowledgements_.pop_back();
    return idle;
  }

  gloo::Context& context_;
  WaitGuard& guard_;
  const pid_t thread_ = static_cast<pid_t>(::syscall(SYS_gettid));
  std::vector<std::unique_ptr<Frame>> idle_frames_;
  std::vector<std::unique_ptr<Acknowledgement>> idle_acknowledgements_;
  std::unordered_map<Channel, SlotsOfChannel, ChannelHash> channels_;
};

}  // namespace

std::unique_ptr<Lane> lane_over_gloo(gloo::Context& context, WaitGuard& guard) {
  return std::make_unique<LaneOverGloo>(context, guard);
}

}  // namespace lab::comm
