#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/relay_world.h"

namespace lab::comm {
namespace {

struct RelayPending final : Pending {
  std::uint64_t id = 0;
  at::Tensor target;  ///< of a receive
  bool contract_only = false;
};

/// Asks the relay one thing at a time: posts are not answered, waits are.
class RelayTransport final : public Transport {
 public:
  RelayTransport(UniqueFd socket, int rank, int size, std::optional<std::uint64_t> shake_seed)
      : socket_(std::move(socket)), rank_(rank), size_(size), shaken_(shake_seed.has_value()) {
    if (shaken_) draws_.seed(*shake_seed * 4099 + static_cast<std::uint64_t>(rank));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::shared_ptr<Pending> start_send(Message message) override { return post(message); }
  std::shared_ptr<Pending> start_recv(Message message) override { return post(message); }

  void wait(Pending& pending) override {
    auto& mine = static_cast<RelayPending&>(pending);
    RelayFrame request;
    request.kind = RelayFrame::Kind::kWait;
    request.id = mine.id;
    const RelayFrameReader::Received answer = ask(request);
    mine.peer_step = answer.frame.step;
    mine.arrived_seconds = answer.frame.seconds;
    if (mine.target.defined() && answer.payload.size() == static_cast<std::size_t>(mine.target.nbytes()))
      std::copy(answer.payload.begin(), answer.payload.end(), static_cast<char*>(mine.target.data_ptr()));
  }

  void abandon(std::shared_ptr<Pending>) override {}  // the relay keeps it

  void set_task(const std::string& task) override {
    RelayFrame frame;
    frame.kind = RelayFrame::Kind::kTask;
    frame.text = task;
    send(frame);
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
      send(frame);
    } catch (const CommError&) {
      // The relay has gone, and with it everyone who could be told.
    }
  }

 private:
  std::shared_ptr<Pending> post(const Message& message) {
    if (message.tensor.is_meta() && !message.contract_only)
      throw ContractError(
          fmt::format("{}: a meta tensor has no data to send; expected one on the CPU", message.where.text()));
    const bool sends = message.direction == Direction::kSend;
    auto pending = std::make_shared<RelayPending>();
    pending->id = num_posted_++;
    if (!sends && !message.contract_only) pending->target = message.tensor;
    // Later messages must not overtake one that waits here.
    const bool waits_here = shaken_ && (!deferred_.empty() || std::bernoulli_distribution()(draws_));
    if (waits_here) {
      deferred_.emplace_back(pending->id, message);
    } else {
      send_message(pending->id, message);
    }
    return pending;
  }

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
    frame.step = message.step;
    if (sends) frame.payload_bytes = message.num_bytes();
    send(frame);
    if (frame.payload_bytes > 0) send(static_cast<const char*>(message.tensor.data_ptr()), frame.payload_bytes);
  }

  void send(const RelayFrame& frame) {
    const std::string bytes = to_bytes(frame);
    send(bytes.data(), bytes.size());
  }

  void send(const char* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t sent = ::send(socket_.get(), bytes, count, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw_gone();
      bytes += sent;
      count -= static_cast<std::size_t>(sent);
    }
  }

  RelayFrameReader::Received ask(const RelayFrame& request) {
    for (const auto& [id, message] : deferred_) send_message(id, message);
    deferred_.clear();
    send(request);
    for (;;) {
      if (auto answer = reader_.next()) {
        if (answer->frame.kind == RelayFrame::Kind::kError)
          raise(static_cast<ExitCode>(answer->frame.exit_code), answer->frame.text);
        return std::move(*answer);
      }
      char bytes[64 << 10];
      const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw_gone();
      reader_.add(bytes, static_cast<std::size_t>(got));
    }
  }

  [[noreturn]] static void throw_gone() { throw CommError("the relay has ended"); }

  UniqueFd socket_;
  const int rank_, size_;
  const bool shaken_;
  std::mt19937_64 draws_;
  std::vector<std::pair<std::uint64_t, Message>> deferred_;  ///< leave at the next wait
  std::uint64_t num_posted_ = 0;
  RelayFrameReader reader_{std::uint64_t{1} << 40};  // it is the relay that sends
};

}  // namespace

std::shared_ptr<Transport> RelayWorld::join_by(int descriptor, int rank, int size,
                                               std::optional<std::uint64_t> shake_seed) {
  return std::make_shared<RelayTransport>(UniqueFd(descriptor), rank, size, shake_seed);
}

}  // namespace lab::comm
