#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace lab {

/// Where in student code a thread is, and where it crashed: told by signal handlers, in memory that may be shared with
/// the process that asks. All zero at first.
struct StudentPlace {
  std::atomic<std::int32_t> process, thread;  ///< that answers; 0: none does
  std::atomic<std::uint32_t> num_answers;
  std::atomic<std::uint32_t> outlives;  ///< 1: who reads `crash` is in another process, so that nothing is printed
  std::atomic<std::uint32_t> crashed;   ///< 1: `crash` is written
  std::array<char, 160> line;
  std::array<char, 368> crash;

  /// "student/ring.cpp:41": asks the thread, and waits for a second at most. Empty: it is not in student code, or does
  /// not answer.
  std::string where();
  /// " at student/ring.cpp:41: an integer is divided by zero", to follow a description of the signal. Empty: it has not
  /// crashed.
  std::string why() const;
};

/// While it lives, this thread answers, and if it crashes the place says why before the process ends as it would have:
/// by SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT. What the C++ library's assertions find, such as an index out of range,
/// ends the process with exit code 7. Without a place, or if that does not outlive the process, a line on stderr says it:
/// "error: rank 1 at student/ring.cpp:41: ...". Handlers are the process's, so that a thread that student code has
/// started is followed, too. Not under the address sanitizer, which has handlers of its own.
class FollowedThread {
 public:
  /// The place must outlive this object. Rank -1: the thread of all ranks of a simulation.
  FollowedThread(StudentPlace* place, int rank);
  ~FollowedThread();
  FollowedThread(const FollowedThread&) = delete;
  FollowedThread& operator=(const FollowedThread&) = delete;

  StudentPlace* place() const { return place_; }
  int rank() const { return rank_; }

 private:
  StudentPlace* place_;
  int rank_;
  void* stack_;  ///< for the handlers: a thread's own may be full
};

/// While it lives, this thread waits for another one: without a place it does not answer, as it is not to blame.
class WaitingThread {
 public:
  WaitingThread();
  ~WaitingThread();
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;
};

}  // namespace lab
