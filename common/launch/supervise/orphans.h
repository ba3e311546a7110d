#pragma once

#include <sys/types.h>

#include <set>

namespace lab {

/// While it lives, processes that lose their parent among this process's descendants become this process's children, so
/// that a rank leaves nothing behind that cannot be found.
class Orphans {
 public:
  Orphans();
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  /// Kills and reaps every child but those that were there before, and those that lose their parent thereby.
  void kill_all();

 private:
  int was_subreaper_ = 0;
  std::set<pid_t> others_;  // children from before: not ours to kill
};

}  // namespace lab
