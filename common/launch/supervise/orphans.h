#pragma once

#include <sys/types.h>

#include <set>

namespace lab::launch {

/// While it lives, orphaned descendants of this process become its children, so that everything a rank leaves behind
/// can be found.
class Orphans {
 public:
  Orphans();
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  /// Kills and reaps every child except those that existed before, and the descendants orphaned by this.
  void kill_all();

 private:
  int was_subreaper_ = 0;
  std::set<pid_t> others_;  // children from before: not ours to kill
};

}  // namespace lab::launch
