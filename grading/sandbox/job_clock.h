#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lab::grading {

/// A thread of a job, as the kernel shows it.
struct ThreadState {
  char state = 'S';  ///< of /proc: R wants a CPU or has one, D waits for a disk, S sleeps
  double cpu_seconds = 0;
};

/// What a process and its descendants use.
struct JobTree {
  std::map<pid_t, ThreadState> threads;  ///< by their ids; none if it is gone
  /// By process: resident, of its own or shared with others; not that of files.
  std::map<pid_t, std::uint64_t> memory_bytes;

  std::uint64_t total_memory_bytes() const;
};
JobTree tree_below(pid_t root, const std::string& proc = "/proc");
/// The same for several processes, with one look at all there are.
std::vector<JobTree> trees_below(const std::vector<pid_t>& roots, const std::string& proc = "/proc");

/// How long a job was able to run. A job that shares its cores with others waits for a CPU again and again; that is not
/// its fault, and limits must not count it. Time in which it sleeps or waits for itself does count.
/// Example   one thread that always wants a CPU, and had it for 0.3 of 1 s: own 0.3, starved 0.7
class JobClock {
 public:
  /// Another look at the job, `seconds` by the clock after the previous one. A thread that wanted a CPU (or a disk) at
  /// both looks and did not have it in between was starved; a new thread counts for half of the time, as it began
  /// somewhere between the two. The job was starved as long as its worst thread. Whatever exceeds kLongestLook counts
  /// as starved: this process itself was kept from looking.
  void look(double seconds, const std::map<pid_t, ThreadState>& threads);

  double own_seconds() const { return own_; }
  double starved_seconds() const { return starved_; }

  static constexpr double kLongestLook = 1;

 private:
  std::map<pid_t, ThreadState> before_;
  double own_ = 0, starved_ = 0;
};

}  // namespace lab::grading
