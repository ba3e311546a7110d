#include "grading/judge/sandbox/rank_servers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "common/base/captured_output.h"
#include "common/base/errors.h"
#include "common/rank/start/rank_server.h"
#include "grading/judge/sandbox/syscall_filter.h"

namespace lab::grading {
namespace {

constexpr double kSecondsToEnd = 1;

/// Ends of a SOCK_SEQPACKET: ours, and the server's.
std::pair<UniqueFd, UniqueFd> make_control() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw UsageError(fmt::format("cannot create a socket: {}", std::strerror(errno)));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd opened(const std::string& program) {
  UniqueFd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw UsageError(fmt::format("cannot open {}: {}", program, std::strerror(errno)));
  return file;
}

}  // namespace

class RankServers::Server {
 public:
  Server(const Sandbox& sandbox, const std::string& program, const std::vector<std::string>& readable) {
    UniqueFd theirs;
    std::tie(control_, theirs) = make_control();
    const UniqueFd file = opened(program), first = syscall_filter(FilterKind::kFirst),
                   strict = syscall_filter(FilterKind::kRank);
    SandboxJob job;
    job.program = file.get();
    job.argv = {program, std::to_string(theirs.get()), std::to_string(first.get()), std::to_string(strict.get())};
    job.inherited = {theirs.get(), first.get(), strict.get()};
    job.readable = readable;
    job.is_student_code = true;
    job.limits = RankServers::limits();
    process_ = sandbox.start(job);
  }

  /// An idle server ends by itself, and its sandbox with it, when nobody can give it orders any more.
  ~Server() {
    control_.reset();
    process_->wait_for(kSecondsToEnd);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void order(const RankOrder& order, const std::array<int, 3>& descriptors) {
    RankOrder copy = order;
    iovec place = {&copy, sizeof copy};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> space{};
    msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptors);
    std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
    // A server that has ended is found when its rank is waited for.
    ::sendmsg(control_.get(), &message, MSG_NOSIGNAL);
  }

  int control() const { return control_.get(); }
  std::optional<RankReply> reply() {
    RankReply reply;
    if (::recv(control_.get(), &reply, sizeof reply, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof reply))
      return std::nullopt;
    return reply;
  }
  Subprocess& process() { return *process_; }

 private:
  UniqueFd control_;
  std::unique_ptr<Subprocess> process_;
};

/// One rank, until it has ended.
class RankServers::RankJob : public RunningJob {
 public:
  explicit RankJob(std::unique_ptr<Server>& slot)
      : slot_(slot), out_(limits().output_bytes), err_(limits().output_bytes) {}
  ~RankJob() override { kill(); }

  void begin(const RankOrder& order, int relay_end) {
    slot_->order(order, {relay_end, out_.write_end().get(), err_.write_end().get()});
    for (CapturedOutput* output : {&out_, &err_}) output->write_end().reset();
  }

  pid_t pid() const override { return slot_ ? slot_->process().pid() : -1; }

  bool wait_for(double seconds) override {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      out_.read();
      err_.read();
      if (ended_) return true;
      if (const auto reply = slot_->reply()) {
        end(reply->status);
        continue;  // reads what it wrote last
      }
      // Of the server nothing is expected but its end.
      if (slot_->process().wait_for(0)) {
        servers_words_ = slot_->process().err();
        end(slot_->process().status());
        slot_.reset();
        continue;
      }
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      std::array<pollfd, 3> waits = {pollfd{slot_->control(), POLLIN, 0}, pollfd{out_.read_end(), POLLIN, 0},
                                     pollfd{err_.read_end(), POLLIN, 0}};
      ::poll(waits.data(), waits.size(), std::clamp(static_cast<int>(std::ceil(1e3 * left)), 1, 20));
    }
  }

  void kill() override {
    if (ended_) return;
    slot_->process().kill();
    end(slot_->process().status());
    slot_.reset();
  }

  int status() const override { return status_; }
  std::string out() const override { return out_.text(); }
  std::string err() const override { return servers_words_ + err_.text(); }
  std::uint64_t dropped_bytes() const override { return out_.dropped_bytes() + err_.dropped_bytes(); }

 private:
  void end(int status) {
    ended_ = true;
    status_ = status;
  }

  std::unique_ptr<Server>& slot_;
  CapturedOutput out_, err_;
  std::string servers_words_;
  bool ended_ = false;
  int status_ = 0;
};

RankServers::RankServers(const Sandbox& sandbox, std::string program, std::vector<std::string> readable)
    : sandbox_(sandbox), program_(std::move(program)), readable_(std::move(readable)) {}

RankServers::~RankServers() = default;

StartedJob RankServers::start(int rank, int size, bool shaken, int relay_end) {
  StartedJob started;
  try {
    std::unique_ptr<Server>& slot = servers_[rank];
    if (!slot || slot->process().wait_for(0)) slot = std::make_unique<Server>(sandbox_, program_, readable_);
    auto job = std::make_unique<RankJob>(slot);
    job->begin({rank, size, shaken ? 1 : 0}, relay_end);
    started.job = std::move(job);
  } catch (const UsageError& refused) {
    started.refused = refused.what();
  }
  return started;
}

void RankServers::end() {
  servers_.clear();
}

SandboxLimits RankServers::limits() {
  SandboxLimits limits;
  limits.threads = 256;
  return limits;
}

}  // namespace lab::grading
