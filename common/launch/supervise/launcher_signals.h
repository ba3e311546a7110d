#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

#include "common/base/files.h"

namespace lab {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD no longer interrupt this process but wait to be read here. No
/// handler and no global: a signal that was ignored before stays ignored. Threads that are started meanwhile leave them
/// alone too.
class LauncherSignals {
 public:
  LauncherSignals();
  ~LauncherSignals();
  LauncherSignals(const LauncherSignals&) = delete;
  LauncherSignals& operator=(const LauncherSignals&) = delete;

  /// Returns when a signal has come, and at the latest after the given time.
  void wait(std::chrono::milliseconds at_most) const;

  /// The next SIGINT, SIGTERM, SIGHUP or SIGQUIT that has come; SIGCHLD only ends wait().
  std::optional<int> next();

 private:
  sigset_t before_;
  UniqueFd fd_;
};

}  // namespace lab
