#include "common/rank/start/rank_server.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "common/rank/start/rank_filter.h"
#include "common/rank/start/warm_up.h"

namespace lab {
namespace {

constexpr int kRelay = 3;  // the rank's only descriptor besides 0, 1 and 2

// A constructor hands it to main(): there is nothing else between the two.
RankSeat seat;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "error: %s: %s\n", what, std::strerror(errno));
  std::fflush(stderr);
  ::_exit(2);
}

struct Received {
  RankOrder order;
  std::array<int, 3> descriptors{};  // relay, stdout, stderr
};

/// The next order. Ends the process when there is none: the judge has closed its end.
Received receive(int control) {
  Received received;
  iovec place = {&received.order, sizeof received.order};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof received.descriptors)> space{};
  msghdr message = {};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  ssize_t got = 0;
  do got = ::recvmsg(control, &message, 0);
  while (got < 0 && errno == EINTR);
  if (got == 0) ::_exit(0);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (got != static_cast<ssize_t>(sizeof received.order) || header == nullptr ||
      header->cmsg_len != CMSG_LEN(sizeof received.descriptors))
    give_up("an order that is none");
  std::memcpy(received.descriptors.data(), CMSG_DATA(header), sizeof received.descriptors);
  return received;
}

/// False: the judge has gone.
bool tell(int control, const RankReply& reply) {
  return ::send(control, &reply, sizeof reply, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
}

/// The child's first steps: nothing stays open but its relay's end and its output.
void become(int control, const Received& received, RankFilter& filter) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up("cannot follow its server");
  if (!tell(control, {received.order.rank, 0, 0})) ::_exit(0);
  const std::array<int, 4> wanted = {::open("/dev/null", O_RDONLY), received.descriptors[1], received.descriptors[2],
                                     received.descriptors[0]};
  // First out of the way of 0 to 3, so that none replaces another one.
  std::array<int, 4> moved{};
  std::transform(wanted.begin(), wanted.end(), moved.begin(), [](int fd) { return ::fcntl(fd, F_DUPFD, kRelay + 1); });
  for (int i = 0; i <= kRelay; ++i) {
    if (::dup2(moved[static_cast<std::size_t>(i)], i) < 0) give_up("cannot take its descriptors");
  }
  if (::syscall(SYS_close_range, kRelay + 1, ~0U, 0) != 0) give_up("cannot close other descriptors");
  draw_own_seed();
  seat = {received.order.rank, received.order.size, received.order.shaken != 0, kRelay};
  if (!filter.install()) give_up("the rank's filter cannot be installed");
}

/// Waits for the next order, and meanwhile tells the judge of ranks that have ended.
Received next_order(int control, const sigset_t& while_waiting, std::map<pid_t, std::int32_t>& find_rank) {
  // A child that ends interrupts the wait for an order: it is reported, and the wait goes on.
  for (;;) {
    int status = 0;
    for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0; find_rank.erase(child)) {
      if (!tell(control, {find_rank[child], 1, status})) ::_exit(0);
    }
    pollfd order = {control, POLLIN, 0};
    if (::ppoll(&order, 1, nullptr, &while_waiting) > 0) return receive(control);
    if (errno != EINTR) give_up("cannot wait for an order");
  }
}

/// Returns in each child, on its way to the constructors of the program and to main(); never in the server.
[[gnu::constructor(101)]] void serve(int, char** argv, char**) {
  const int control = std::atoi(argv[1]);
  RankFilter filter;
  if (!filter.read(std::atoi(argv[3]))) give_up("the rank's filter cannot be read");
  warm_up();
  // A rank's end interrupts the wait for an order, and nothing else.
  sigset_t before, ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ends, &before);
  ::signal(SIGCHLD, [](int) {});
  std::map<pid_t, std::int32_t> find_rank;
  for (;;) {
    const Received received = next_order(control, before, find_rank);
    const pid_t child = ::fork();
    if (child < 0) give_up("cannot fork");
    if (child == 0) {
      ::signal(SIGCHLD, SIG_DFL);
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      return become(control, received, filter);
    }
    find_rank[child] = received.order.rank;
    for (const int descriptor : received.descriptors) ::close(descriptor);
  }
}

}  // namespace

const RankSeat& rank_seat() {
  return seat;
}

}  // namespace lab
