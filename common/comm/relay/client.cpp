#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/base/stack/student_place.h"
#include "common/comm/group.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/relay_world.h"

namespace lab::comm {
namespace {

struct RelayPending final : Pending {
  RelayPending(Message&& posted, std::uint64_t posted_id) : Pending(std::move(posted)), id(posted_id) {}
  std::uint64_t id;
};

void require_data(const at::Tensor& tensor, const std::string& where) {
  if (tensor.is_meta())
    throw ContractError(fmt::format("{}: a meta tensor has no data to send; expected one on the CPU", where));
}

/// Asks the relay one thing at a time: posts are not answered, waits are. So posts are kept, and sent together with the next
/// question or when there are many: fewer system calls, and the relay wakes up less often.
class RelayTransport final : public Transport {
 public:
  RelayTransport(UniqueFd socket, int rank, int size, bool shaken)
      : socket_(std::move(socket)), rank_(rank), size_(size), shaken_(shaken) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::shared_ptr<Pending> post(Message&& message) override {
    if (!message.contract_only) require_data(message.tensor, message.where.text());
    const auto pending = std::make_shared<RelayPending>(std::move(message), num_posted_++);
    send_message(pending->id, pending->message);
    return pending;
  }

  void wait(Pending& pending) override {
    auto& mine = static_cast<RelayPending&>(pending);
    RelayFrame request;
    request.kind = RelayFrame::Kind::kWait;
    request.id = mine.id;
    request.flops = flops();
    const RelayFrameReader::Received answer = ask(request);
    mine.peer_step = answer.frame.step;
    mine.peer_model_posted = answer.frame.model_time;
    mine.arrived_seconds = answer.frame.seconds;
    const Message& message = mine.message;
    if (message.direction == Direction::kRecv && !answer.payload.empty() &&
        answer.payload.size() == message.num_bytes())
      std::copy(answer.payload.begin(), answer.payload.end(), static_cast<char*>(message.tensor.data_ptr()));
  }

  void abandon(std::shared_ptr<Pending>) override {}  // the relay keeps it

  void set_task(const std::string& task) override {
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kTask;
    frame.text = task;
    keep(frame);
  }

  void set_work_counter(std::function<std::int64_t()> flops) override { work_counter_ = std::move(flops); }

  /// This rank's part in a collective; returns what the relay makes of all parts, and the model time of its beginning.
  RelayFrameReader::Received collect(RelayFrame frame, const std::string& payload) {
    frame.kind = RelayFrame::Kind::kCollect;
    frame.flops = flops();
    frame.payload_bytes = payload.size();
    return ask(frame, payload);
  }

  std::optional<std::string> next_work() {
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kNext;
    frame.flops = flops();
    RelayFrameReader::Received answer = ask(frame);
    if (!answer.frame.text.empty()) return std::nullopt;
    return std::move(answer.payload);
  }

  void return_result(const std::string& result) {
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kReturnResult;
    frame.flops = flops();
    frame.payload_bytes = result.size();
    keep(frame, result.data());
    flush();
  }

  double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void pass_time(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

  void close() override {
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kClose;
    ask(frame);
  }

  void fail(ExitCode exit_code, const std::string& message) override {
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kFail;
    frame.exit_code = static_cast<int>(exit_code);
    frame.text = message;
    try {
      keep(frame);
      flush();
    } catch (const CommError&) {
      // The relay has gone, and with it everyone who could be told.
    }
  }

 private:
  std::int64_t flops() const { return work_counter_ ? work_counter_() : 0; }

  void send_message(std::uint64_t id, const Message& message) {
    const bool sends = message.direction == Direction::kSend;
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kPost;
    frame.id = id;
    frame.channel = message;
    frame.operation = message.operation;
    frame.file = std::string(message.where.file_name());
    frame.line = message.where.line;
    frame.dtype = static_cast<int>(message.tensor.scalar_type());
    frame.sizes = message.tensor.sizes().vec();
    frame.contract_only = message.contract_only;
    frame.flops = flops();
    frame.payload_later = sends && shaken_ && message.num_bytes() > 0;
    if (frame.payload_later) to_be_pulled_[id] = message.tensor;
    if (sends && !frame.payload_later) frame.payload_bytes = message.num_bytes();
    keep(frame, frame.payload_bytes > 0 ? static_cast<const char*>(message.tensor.data_ptr()) : nullptr);
  }

  /// What the tensor holds now, which may be any moment until the send is complete.
  void send_payload(std::uint64_t id) {
    const auto pulled = to_be_pulled_.extract(id);
    if (pulled.empty()) throw CommError("the relay asks for a message that was not sent");
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kPayload;
    frame.id = id;
    frame.payload_bytes = static_cast<std::uint64_t>(pulled.mapped().nbytes());
    keep(frame, static_cast<const char*>(pulled.mapped().data_ptr()));
    flush();
  }

  /// The frame, and its payload if it has one.
  void keep(const RelayFrame& frame, const char* payload = nullptr) {
    kept_ += to_bytes(frame);
    if (frame.payload_bytes + kept_.size() <= kMostKept) {
      if (frame.payload_bytes > 0) kept_.append(payload, frame.payload_bytes);
    } else {
      flush();
      send(payload, frame.payload_bytes);
    }
  }

  void flush() {
    send(kept_.data(), kept_.size());
    kept_.clear();
  }

  void send(const char* bytes, std::size_t count) {
    // The kernel may take a part of the bytes only.
    while (count > 0) {
      const ssize_t sent = ::send(socket_.get(), bytes, count, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw_gone();
      bytes += sent;
      count -= static_cast<std::size_t>(sent);
    }
  }

  RelayFrameReader::Received ask(const RelayFrame& request, const std::string& payload = {}) {
    keep(request, payload.data());
    flush();
    // Until the answer comes, the relay may ask for payloads of this rank that other ranks have received.
    for (;;) {
      if (auto answer = reader_.next()) {
        if (answer->frame.kind == RelayFrame::Kind::kPull) {
          send_payload(answer->frame.id);
          continue;
        }
        if (answer->frame.kind == RelayFrame::Kind::kError)
          raise(static_cast<ExitCode>(answer->frame.exit_code), answer->frame.text);
        return std::move(*answer);
      }
      char bytes[64 << 10];
      const ssize_t got = receive(bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw_gone();
      reader_.add(bytes, static_cast<std::size_t>(got));
    }
  }

  ssize_t receive(char* bytes, std::size_t most) {
    const WaitingThread waiting;
    return ::recv(socket_.get(), bytes, most, 0);
  }

  [[noreturn]] static void throw_gone() { throw CommError("the relay has ended"); }

  static constexpr std::size_t kMostKept = 64 << 10;  // what a socket's buffer takes at once

  UniqueFd socket_;
  std::string kept_;  ///< not sent yet
  const int rank_, size_;
  const bool shaken_;
  std::function<std::int64_t()> work_counter_;
  std::map<std::uint64_t, at::Tensor> to_be_pulled_;
  std::uint64_t num_posted_ = 0;
  RelayFrameReader reader_{std::uint64_t{1} << 40};  // it is the relay that sends
};

std::string view_bytes(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), static_cast<std::size_t>(tensor.nbytes())};
}

/// The relay computes them.
class RelayCollectives final : public CollectiveBackend {
 public:
  explicit RelayCollectives(std::shared_ptr<RelayTransport> transport) : transport_(std::move(transport)) {}

  void broadcast(const at::Tensor& tensor, int src_rank, const Group& group) override {
    RelayFrame frame = make_frame("broadcast", tensor, group);
    frame.channel.peer = src_rank;
    const bool sends = src_rank == group.rank;
    take(collect(frame, sends ? view_bytes(tensor) : ""), sends ? at::Tensor() : tensor);
  }
  void all_reduce(const at::Tensor& tensor, const Group& group) override {
    take(collect(make_frame("all_reduce", tensor, group), view_bytes(tensor)), tensor);
  }
  void all_gather(const at::Tensor& in, const at::Tensor& out, const Group& group) override {
    take(collect(make_frame("all_gather", in, group), view_bytes(in)), out);
  }
  void reduce_scatter(const at::Tensor& in, const at::Tensor& out, const Group& group) override {
    take(collect(make_frame("reduce_scatter", in, group), view_bytes(in)), out);
  }
  void barrier(const Group& group) override { collect(make_frame("barrier", at::empty({0}, at::kByte), group), ""); }
  void all_to_all(const std::vector<at::Tensor>& parts, const std::vector<at::Tensor>& received, const Group& group,
                  SourceLine where) override {
    RelayFrame frame = make_frame("all_to_all", parts[0], group);
    frame.file = std::string(where.file_name());
    frame.line = where.line;
    frame.sizes.clear();
    for (const auto& tensors : {parts, received}) {
      for (const at::Tensor& tensor : tensors) {
        frame.sizes.push_back(tensor.dim());
        frame.sizes.insert(frame.sizes.end(), tensor.sizes().begin(), tensor.sizes().end());
      }
    }
    std::string payload;
    for (std::size_t dst = 0; dst < parts.size(); ++dst) {
      if (static_cast<int>(dst) != group.rank) payload += view_bytes(parts[dst]);
    }
    const std::string bytes = collect(frame, payload);
    std::size_t next = 0;
    for (std::size_t src = 0; src < received.size(); ++src) {
      if (static_cast<int>(src) == group.rank) continue;
      take(bytes.substr(next, received[src].nbytes()), received[src]);
      next += received[src].nbytes();
    }
  }
  std::optional<std::int64_t> model_began() const override { return model_began_; }

 private:
  std::string collect(const RelayFrame& frame, const std::string& payload) {
    RelayFrameReader::Received answer = transport_->collect(frame, payload);
    model_began_ = answer.frame.model_time;
    return std::move(answer.payload);
  }

  static RelayFrame make_frame(const char* operation, const at::Tensor& tensor, const Group& group) {
    require_data(tensor, operation);
    RelayFrame frame;
    frame.channel.group = group.id | kCollectiveChannel;
    frame.members = group.world_ranks;
    frame.operation = operation;
    frame.file = operation;
    frame.dtype = static_cast<int>(tensor.scalar_type());
    frame.sizes = tensor.sizes().vec();
    return frame;
  }

  /// Overwrites the tensor, unless it is undefined.
  static void take(const std::string& bytes, const at::Tensor& tensor) {
    if (tensor.defined() && bytes.size() == static_cast<std::size_t>(tensor.nbytes()))
      std::copy(bytes.begin(), bytes.end(), static_cast<char*>(tensor.data_ptr()));
  }

  std::shared_ptr<RelayTransport> transport_;
  std::int64_t model_began_ = 0;
};

}  // namespace

RelayEnd RelayWorld::join_by(int descriptor, int rank, int size, bool shaken) {
  const auto transport = std::make_shared<RelayTransport>(UniqueFd(descriptor), rank, size, shaken);
  return {transport, std::make_shared<RelayCollectives>(transport), [transport] { return transport->next_work(); },
          [transport](const std::string& result) { transport->return_result(result); }};
}

}  // namespace lab::comm
