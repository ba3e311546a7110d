#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/base/take_turns.h"
#include "common/comm/gloo/collectives.h"
#include "common/comm/gloo/connector.h"
#include "common/comm/gloo/frame.h"
#include "common/comm/gloo/lifeline.h"
#include "common/comm/process_world.h"

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

struct GlooPending final : Pending {
  Message message;
  std::uint64_t sequence = 0;
  std::unique_ptr<Frame> frame;
  std::unique_ptr<UnboundBuffer> payload;            ///< null when the payload is in the frame
  std::unique_ptr<Acknowledgement> acknowledgement;  ///< null for parts of collectives
  int event_slot = -1;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(const ProcessWorldOptions& options, std::shared_ptr<gloo::rendezvous::Context> context,
                Lifeline& lifeline, RankEvents* events)
      : options_(options), context_(std::move(context)), lifeline_(lifeline), events_(events) {}

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }

  std::shared_ptr<Pending> start_send(Message message) override {
    const FrameHeader header = make_header(message);
    auto pending = prepare(std::move(message));
    const Message& m = pending->message;
    std::memcpy(pending->frame->memory.get(), &header, sizeof(header));
    const std::uint64_t num_bytes = m.num_bytes();
    const bool fits = num_bytes <= kInlineBytes;
    if (fits && num_bytes > 0) std::memcpy(pending->frame->payload(), m.tensor.data_ptr(), num_bytes);
    post(*pending, [&] {
      if (is_acknowledged(m)) pending->acknowledgement = expect_acknowledgement(m, pending->sequence);
      pending->frame->buffer->send(m.peer, frame_slot(m.group, m.tag), 0, sizeof(FrameHeader) + (fits ? num_bytes : 0));
      if (!fits) pending->payload->send(m.peer, payload_slot(m, pending->sequence), 0, num_bytes);
      if (is_acknowledged(m) && pending->sequence > 0)
        expected_next_[m] = expect_acknowledgement(m, pending->sequence + 1);
    });
    return pending;
  }

  std::shared_ptr<Pending> start_recv(Message message) override {
    make_header(message);  // rejects what the sender could not have sent
    auto pending = prepare(std::move(message));
    const Message& m = pending->message;
    post(*pending, [&] {
      if (is_acknowledged(m)) acknowledge(*pending);
      pending->frame->buffer->recv(m.peer, frame_slot(m.group, m.tag), 0, kFrameBytes);
      if (pending->payload) pending->payload->recv(m.peer, payload_slot(m, pending->sequence), 0, m.num_bytes());
    });
    return pending;
  }

  void wait(Pending& base) override {
    auto& pending = static_cast<GlooPending&>(base);
    const Message& m = pending.message;
    if (events_ != nullptr && pending.event_slot >= 0) events_->waiting(pending.event_slot);
    const bool sends = m.direction == Direction::kSend;
    lifeline_.wait(*pending.frame->buffer, m.direction, m, pending.sequence);
    if (!sends) accept_frame(pending);
    if (pending.payload) lifeline_.wait(*pending.payload, m.direction, m, pending.sequence);
    if (pending.acknowledgement) {
      lifeline_.wait(*pending.acknowledgement->buffer, sends ? Direction::kRecv : Direction::kSend, m,
                     pending.sequence);
      if (sends) pending.peer_model_posted = pending.acknowledgement->model_posted;
      idle_acknowledgements_.push_back(std::move(pending.acknowledgement));
    }
    if (events_ != nullptr && pending.event_slot >= 0) {
      events_->resumed();
      events_->completed(pending.event_slot);
    }
    idle_frames_.push_back(std::move(pending.frame));
  }

  void abandon(std::shared_ptr<Pending> pending) override {
    // Gloo has no cancel, and the memory of a posted operation must outlive the connection.
    graveyard_.push_back(std::move(pending));
  }

  void set_task(const std::string& task) override {
    if (events_ != nullptr) events_->set_task(task);
    lifeline_.set_task(task);
  }

  double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  void pass_time(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

  void close() override {
    if (events_ != nullptr) events_->set_activity(RankActivity::kFinished);
    lifeline_.close();
  }

  void fail(ExitCode exit_code, const std::string& message) override {
    if (events_ != nullptr) events_->set_activity(RankActivity::kFailed, message);
    lifeline_.fail(exit_code, message, involved_rank_);
  }

 private:
  std::shared_ptr<GlooPending> prepare(Message message) {
    lifeline_.check();
    if (message.tensor.is_meta()) {
      throw ContractError(
          fmt::format("{}: a meta tensor has no data to send; hint: meta tensors are for --world sim and threads",
                      message.where.text()));
    }
    auto pending = std::make_shared<GlooPending>();
    pending->message = std::move(message);
    const Message& m = pending->message;
    pending->sequence = num_posted_[m]++;
    if (idle_frames_.empty()) {
      pending->frame = std::make_unique<Frame>(*context_);
    } else {
      pending->frame = std::move(idle_frames_.back());
      idle_frames_.pop_back();
    }
    if (m.num_bytes() > kInlineBytes)
      pending->payload = context_->createUnboundBuffer(m.tensor.data_ptr(), m.num_bytes());
    return pending;
  }

  template <typename Post>
  void post(GlooPending& pending, const Post& to_gloo) {
    if (events_ != nullptr) pending.event_slot = events_->posted(pending.message.posted_op(pending.sequence));
    try {
      to_gloo();
    } catch (const gloo::Exception&) {
      lifeline_.connection_lost();
    }
  }

  /// Compares the sender's contract with what this rank expects; copies the payload from the frame if it is there.
  void accept_frame(GlooPending& pending) {
    FrameHeader header;
    std::memcpy(&header, pending.frame->memory.get(), sizeof(header));
    const Message& m = pending.message;
    if (!same_contract(header, m)) {
      involved_rank_ = m.peer;
      throw ContractError(contract_violation(m.peer, contract_of(header), rank(), m.contract()));
    }
    pending.peer_step = header.step;
    pending.peer_model_posted = header.model_posted;
    if (!pending.payload && m.num_bytes() > 0)
      std::memcpy(m.tensor.data_ptr(), pending.frame->payload(), m.num_bytes());
  }

  void acknowledge(GlooPending& pending) {
    const Message& m = pending.message;
    pending.acknowledgement = idle_acknowledgement();
    pending.acknowledgement->model_posted = m.model_posted;
    pending.acknowledgement->buffer->send(m.peer, acknowledgement_slot(m, pending.sequence));
  }

  /// The acknowledgement of the channel's n-th message, which may have been expected before.
  std::unique_ptr<Acknowledgement> expect_acknowledgement(const Message& message, std::uint64_t sequence) {
    if (std::unique_ptr<Acknowledgement>& next = expected_next_[message]) return std::move(next);
    std::unique_ptr<Acknowledgement> expected = idle_acknowledgement();
    expected->buffer->recv(message.peer, acknowledgement_slot(message, sequence));
    return expected;
  }

  std::unique_ptr<Acknowledgement> idle_acknowledgement() {
    if (idle_acknowledgements_.empty()) return std::make_unique<Acknowledgement>(*context_);
    std::unique_ptr<Acknowledgement> idle = std::move(idle_acknowledgements_.back());
    idle_acknowledgements_.pop_back();
    return idle;
  }

  const ProcessWorldOptions options_;
  std::shared_ptr<gloo::rendezvous::Context> context_;
  Lifeline& lifeline_;
  RankEvents* events_;
  std::unordered_map<Channel, std::uint64_t, ChannelHash> num_posted_;
  std::vector<std::unique_ptr<Frame>> idle_frames_;
  std::vector<std::unique_ptr<Acknowledgement>> idle_acknowledgements_;
  std::unordered_map<Channel, std::unique_ptr<Acknowledgement>, ChannelHash> expected_next_;
  std::vector<std::shared_ptr<Pending>> graveyard_;
  int involved_rank_ = -1;  ///< the other side of a contract mismatch found by this rank
};

/// One process's part of its world. Never destroyed: see ProcessWorld.
struct Parts {
  std::unique_ptr<EventFile> event_file;
  std::unique_ptr<RankEvents> events;
  std::unique_ptr<Connector> connector;
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::unique_ptr<Lifeline> lifeline;
  std::shared_ptr<Transport> transport;
  std::shared_ptr<CollectiveBackend> collectives;
};

class GlooWorld final : public ProcessWorld {
 public:
  explicit GlooWorld(const ProcessWorldOptions& options) : parts_(*new Parts) {
    if (!options.event_file.empty()) {
      parts_.event_file = EventFile::open(options.event_file);
      parts_.events = parts_.event_file->rank(options.rank);
      parts_.events->set_timeout(options.timeout_seconds);
    }
    parts_.connector = Connector::open(options);
    parts_.context = parts_.connector->connect("world", options.rank, options.size);
    try {
      parts_.lifeline = std::make_unique<Lifeline>(*parts_.context, options.timeout_seconds, parts_.event_file.get(),
                                                   *parts_.connector);
    } catch (const gloo::Exception&) {
      parts_.connector->connection_lost();
    }
    parts_.transport = std::make_shared<GlooTransport>(options, parts_.context, *parts_.lifeline, parts_.events.get());
    parts_.collectives = std::make_shared<GlooCollectives>(*parts_.transport, *parts_.lifeline, *parts_.connector,
                                                           options.timeout_seconds, parts_.events.get());
    if (parts_.events) parts_.events->set_activity(RankActivity::kRunning);
    // A rank that leaves right after the rendezvous would break a peer that is still in it.
    try {
      parts_.collectives->barrier(whole_world(options.rank, options.size));
    } catch (const Error& error) {
      parts_.transport->fail(error.exit_code(), error.what());
      throw;
    }
  }

  std::shared_ptr<Transport> transport() override { return parts_.transport; }
  std::shared_ptr<CollectiveBackend> collectives() override { return parts_.collectives; }

 private:
  Parts& parts_;
};

}  // namespace

std::unique_ptr<ProcessWorld> ProcessWorld::join(const ProcessWorldOptions& options) {
  take_turns();
  std::signal(SIGPIPE, SIG_IGN);  // Gloo writes to sockets without MSG_NOSIGNAL
  return std::make_unique<GlooWorld>(options);
}

}  // namespace lab::comm
