#include "grading/sandbox/rank_server.h"

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
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/rank/start/rank_server.h"
#include "grading/sandbox/syscall_filter.h"

namespace lab::grading {
namespace {

constexpr double kSecondsToEnd = 1;

/// Ends of a SOCK_SEQPACKET: ours, and the server's.
std::pair<UniqueFd, UniqueFd> make_control() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw UsageError(fmt::format("cannot create a socket: {}", std::strerror(errno)));
  std::pair<UniqueFd, UniqueFd> control = {UniqueFd(ends[0]), UniqueFd(ends[1])};
  const int yes = 1;  // the kernel then names the process that each reply is from
  if (::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0)
    throw UsageError(fmt::format("a socket does not name its sender: {}", std::strerror(errno)));
  return control;
}

UniqueFd opened(const std::string& program) {
  UniqueFd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw UsageError(fmt::format("cannot open {}: {}", program, std::strerror(errno)));
  return file;
}

}  // namespace

class RankServer::Process {
 public:
  Process(const Sandbox& sandbox, const std::string& program, const std::vector<std::string>& readable) {
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
    job.limits = RankServer::limits();
    process_ = sandbox.start(job);
  }

  /// Without an end for orders, the server exits, and its ranks and its sandbox end with it.
  ~Process() {
    control_.reset();
    process_->wait_for(kSecondsToEnd);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void order(const RankOrder& order, const std::array<int, 3>& descriptors, const std::optional<cpu_set_t>& cores) {
    ranks_[order.rank] = {cores, {}, {}};
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
    // A server that has ended is found when its ranks are waited for.
    ::sendmsg(control_.get(), &message, MSG_NOSIGNAL);
  }

  bool has_ended() { return process_->wait_for(0); }
  void kill() { process_->kill(); }
  /// What it said itself, once it has ended.
  std::string words() const { return process_->err(); }

  int control() const { return control_.get(); }
  /// As the judge sees the rank; until it has begun, the server, which may still be loading its libraries.
  pid_t find_pid(int rank) {
    read_replies();
    return ranks_[rank].pid.value_or(process_->pid());
  }
  /// As from waitpid(), once the rank has ended, by itself or with the server.
  std::optional<int> find_status(int rank) {
    read_replies();
    if (ranks_[rank].status) return ranks_[rank].status;
    if (has_ended()) return process_->status();
    return std::nullopt;
  }

 private:
  struct Rank {
    std::optional<cpu_set_t> cores;
    std::optional<pid_t> pid;
    std::optional<int> status;
  };

  void read_replies() {
    for (;;) {
      RankReply reply;
      iovec place = {&reply, sizeof reply};
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> space{};
      msghdr message = {};
      message.msg_iov = &place;
      message.msg_iovlen = 1;
      message.msg_control = space.data();
      message.msg_controllen = space.size();
      if (::recvmsg(control_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof reply))
        return;
      const auto rank = ranks_.find(reply.rank);
      const cmsghdr* const header = CMSG_FIRSTHDR(&message);
      if (rank == ranks_.end() || header == nullptr || header->cmsg_type != SCM_CREDENTIALS) continue;
      if (reply.has_ended != 0) {
        rank->second.status = reply.status;
      } else {
        ucred sender = {};
        std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
        rank->second.pid = sender.pid;
        // What runs in a sandbox may not choose its cores itself.
        if (rank->second.cores) ::sched_setaffinity(sender.pid, sizeof(cpu_set_t), &*rank->second.cores);
      }
    }
  }

  UniqueFd control_;
  std::unique_ptr<Subprocess> process_;
  std::map<int, Rank> ranks_;
};

/// One rank, until it has ended.
class RankServer::RankJob : public RunningJob {
 public:
  RankJob(std::shared_ptr<Process> process, const RankOrder& order, int relay_end,
          const std::optional<cpu_set_t>& cores)
      : process_(std::move(process)), rank_(order.rank), out_(limits().output_bytes), err_(limits().output_bytes) {
    process_->order(order, {relay_end, out_.write_end().get(), err_.write_end().get()}, cores);
    for (CapturedOutput* output : {&out_, &err_}) output->write_end().reset();
  }
  ~RankJob() override { kill(); }

  pid_t pid() const override { return ended_ ? -1 : process_->find_pid(rank_); }

  bool wait_for(double seconds) override {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      out_.read();
      err_.read();
      if (ended_) return true;
      if (const auto status = process_->find_status(rank_)) {
        end(*status);
        continue;  // reads what it wrote last
      }
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      std::array<pollfd, 3> waits = {pollfd{process_->control(), POLLIN, 0}, pollfd{out_.read_end(), POLLIN, 0},
                                     pollfd{err_.read_end(), POLLIN, 0}};
      ::poll(waits.data(), waits.size(), std::clamp(static_cast<int>(std::ceil(1e3 * left)), 1, 20));
    }
  }

  void kill() override {
    if (ended_) return;
    process_->kill();
    // A process that was killed ends as soon as the kernel lets it; until then its rank is not free.
    while (!wait_for(kSecondsToEnd)) {
    }
  }

  int status() const override { return status_; }
  std::string out() const override { return out_.text(); }
  std::string err() const override { return servers_words_ + err_.text(); }
  std::uint64_t dropped_bytes() const override { return out_.dropped_bytes() + err_.dropped_bytes(); }

 private:
  void end(int status) {
    ended_ = true;
    status_ = status;
    if (process_->has_ended()) servers_words_ = process_->words();
  }

  const std::shared_ptr<Process> process_;
  const int rank_;
  CapturedOutput out_, err_;
  std::string servers_words_;
  bool ended_ = false;
  int status_ = 0;
};

RankServer::RankServer(const Sandbox& sandbox, std::string program, std::vector<std::string> readable)
    : sandbox_(sandbox), program_(std::move(program)), readable_(std::move(readable)) {}

RankServer::~RankServer() = default;

StartedJob RankServer::start(int rank, int size, bool shaken, int relay_end, const std::optional<cpu_set_t>& cores) {
  StartedJob started;
  try {
    if (!process_ || process_->has_ended()) process_ = std::make_shared<Process>(sandbox_, program_, readable_);
    started.job = std::make_unique<RankJob>(process_, RankOrder{rank, size, shaken ? 1 : 0}, relay_end, cores);
  } catch (const UsageError& refused) {
    started.refused = refused.what();
  }
  return started;
}

void RankServer::end() {
  if (process_) process_->kill();
  process_.reset();
}

SandboxLimits RankServer::limits() {
  SandboxLimits limits;
  limits.threads = 256;
  return limits;
}

}  // namespace lab::grading
