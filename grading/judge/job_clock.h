#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace lab::grading {

/// A thread of a job, as the kernel shows it.
struct ThreadState {
  char state = 'S';  ///< of /proc: R wants a CPU or has one, D waits for a disk, S sleeps
  double cpu_seconds = 0;
};

/// All threads of a process and of its descendants, by their ids; none if it is gone.
std::map<pid_t, ThreadState> threads_below(pid_t root, const std::string& proc = "/proc");

/// How long a job could have gone on by itself. A job that shares its cores with others waits for a CPU again and again;
/// that is no fault of its own, and limits must not count it. One that sleeps, or waits for itself, could have.
/// Example   one thread that always wants a CPU, and had it for 0.3 of 1 s: own 0.3, starved 0.7
class JobClock {
 public:
  /// Another look at the job, so many seconds of the clock after the one before. A thread that wanted a CPU (or a disk)
  /// at both looks and did not have it in between was starved; of a new one, half of the time is taken, as it began
  /// somewhere between the two. The job was starved as long as its worst thread. Of more
  /// than kLongestLook, the rest counts as starved: this process itself was kept from looking.
  void look(double seconds, const std::map<pid_t, ThreadState>& threads);

  double own_seconds() const { return own_; }
  double starved_seconds() const { return starved_; }

  static constexpr double kLongestLook = 1;

 private:
  std::map<pid_t, ThreadState> before_;
  double own_ = 0, starved_ = 0;
};

}  // namespace lab::grading
