#pragma once

#include <signal.h>

#include <chrono>
#include <optional>
#include <vector>

#include "common/base/files.h"

namespace lab::launch {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD do not interrupt this process but are read here. Uses
/// no handler and no global: a signal that was ignored before stays ignored. Threads started meanwhile inherit the
/// mask.
class LauncherSignals {
 public:
  LauncherSignals();
  ~LauncherSignals();
  LauncherSignals(const LauncherSignals&) = delete;
  LauncherSignals& operator=(const LauncherSignals&) = delete;

  /// Returns when a signal has arrived or one of these descriptors can be read, or after the given time.
  void wait(std::chrono::milliseconds at_most, const std::vector<int>& readable = {}) const;

  /// The next SIGINT, SIGTERM, SIGHUP or SIGQUIT that has arrived; SIGCHLD only ends wait().
  std::optional<int> next();

 private:
  sigset_t before_;
  UniqueFd fd_;
};

}  // namespace lab::launch
