#pragma once

#include <sys/types.h>

#include "common/base/files.h"
#include "common/launch/supervise/run_directory.h"

namespace lab::launch {

/// Cleans up after this process, however it ends. While it lives, TMPDIR is a folder of this process's own, so that
/// every RunDirectory is in it; a second process waits for this one's end, and then removes the folder and kills what
/// still works in it or was started from here.
/// Call      before other threads are started
class Janitor {
 public:
  /// Errors    UsageError: the system refuses a folder or a process
  Janitor();
  ~Janitor();  ///< waits until everything is removed
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

 private:
  RunDirectory folder_;
  UniqueFd alive_;  ///< a byte in it: this process is about to end
  pid_t process_ = -1;
};

}  // namespace lab::launch
