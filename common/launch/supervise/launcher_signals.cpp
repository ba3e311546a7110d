#include "common/launch/supervise/launcher_signals.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

#include "common/api/errors.h"

namespace lab::launch {
namespace {

bool is_ignored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

LauncherSignals::LauncherSignals() {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  // A blocked signal would arrive here even if it is ignored, as SIGHUP is under nohup.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (!is_ignored(signal)) sigaddset(&ours, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &ours, &before_);
  fd_ = UniqueFd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.get() < 0) {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    throw UsageError(fmt::format("cannot watch for signals: {}", std::strerror(error)));
  }
}

LauncherSignals::~LauncherSignals() {
  while (next()) {  // a pending signal must not be delivered once it is unblocked
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void LauncherSignals::wait(std::chrono::milliseconds at_most, const std::vector<int>& readable) const {
  std::vector<pollfd> waits = {{fd_.get(), POLLIN, 0}};
  for (const int fd : readable) waits.push_back({fd, POLLIN, 0});
  ::poll(waits.data(), waits.size(), static_cast<int>(at_most.count()));
}

std::optional<int> LauncherSignals::next() {
  signalfd_siginfo info = {};
  while (::read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (info.ssi_signo != SIGCHLD) return static_cast<int>(info.ssi_signo);
  }
  return std::nullopt;
}

}  // namespace lab::launch
