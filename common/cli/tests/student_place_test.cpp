#include "common/base/stack/student_place.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "common/base/stack/student_frame.h"
#include "common/base/subprocess.h"
#include "common/testing/captured.h"
#include "common/testing/plain_test.h"
#include "common/testing/student/crashing.h"

using lab::FollowedThread;
using lab::StudentPlace;
namespace student = lab::testing;

namespace {

/// Zeroed memory that a child process shares.
StudentPlace& shared_place() {
  void* const memory = ::mmap(nullptr, sizeof(StudentPlace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) StudentPlace();
}

struct End {
  std::string status, why;
};

/// How a process ends in which a followed thread runs the body.
End make_end(const std::function<void()>& body) {
  StudentPlace& place = shared_place();
  place.outlives = 1;
  const pid_t child = lab::fork_process([&] {
    const FollowedThread followed(&place, 1);
    body();
    return 0;
  });
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return {lab::describe_status(status), place.why()};
}

std::string at_line(int line) {
  return fmt::format(" at student/crashing.cpp:{}: ", line);
}

/// Without libbacktrace, no line is known; and the address sanitizer's handlers are not replaced.
bool has_no_lines() {
  lab::CallStack stack;
  stack.capture();
#ifdef __SANITIZE_ADDRESS__
  const bool is_sanitized = true;
#else
  const bool is_sanitized = false;
#endif
  if (lab::student_frame(stack).known && !is_sanitized) return false;
  MESSAGE("skipped: built without libbacktrace, or with the address sanitizer");
  return true;
}

volatile int zero = 0;

}  // namespace

TEST_CASE("student place: a crash leaves the student's line and its cause, and the process ends by its signal") {
  if (has_no_lines()) return;
  const End null = make_end([] { student::follow(nullptr); });
  CHECK(null.status == "killed by signal 11 (SIGSEGV)");
  CHECK(null.why == at_line(student::kFollowLine) + "a null pointer is followed");
  const End far = make_end([] { student::follow(reinterpret_cast<int*>(std::uintptr_t{1} << 45)); });
  CHECK(far.status == "killed by signal 11 (SIGSEGV)");
  CHECK(far.why == at_line(student::kFollowLine) + "a pointer, reference or index leads to memory that is not there");
  const End zero_divisor = make_end([] { student::divide(1, zero); });
  CHECK(zero_divisor.status == "killed by signal 8 (SIGFPE)");
  CHECK(zero_divisor.why == at_line(student::kDivideLine) + "an integer is divided by zero");
}

TEST_CASE("student place: an index out of range is exit code 7, with its line") {
  if (has_no_lines()) return;
  const End end = make_end([] { student::find_element({1, 2}, 2); });
  CHECK(end.status == "exited with code 7");
  CHECK(end.why == at_line(student::kElementLine) + "an index is out of range: expected __n < this->size()");
  CHECK(make_end([] { zero = std::vector<int>().front(); }).status == "exited with code 70");  // not in student code
}

TEST_CASE("student place: a function that calls itself without end is found on a stack of the handler's own") {
  if (has_no_lines()) return;
  const End end = make_end([] { student::call_itself(0); });
  CHECK(end.status == "killed by signal 11 (SIGSEGV)");
  bool is_its_line = false;
  for (int line = student::kCallItselfFirstLine; line <= student::kCallItselfLastLine; ++line)
    is_its_line = is_its_line || end.why == at_line(line) +
                                                "the stack is full: a function calls itself without end, or has very "
                                                "large arrays";
  CHECK_MESSAGE(is_its_line, end.why);
}

TEST_CASE("student place: an exception that must not leave a function has the line that threw it") {
  if (has_no_lines()) return;
  const End end = make_end([] { student::throw_from_noexcept({}); });
  CHECK(end.status == "killed by signal 6 (SIGABRT)");
  CHECK_MESSAGE(end.why.rfind(at_line(student::kNoexceptLine) + "abort() was called", 0) == 0, end.why);
}

TEST_CASE("student place: a signal from another process is not a crash") {
  const End end = make_end([] {
    const pid_t victim = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      ::kill(victim, SIGSEGV);
      ::_exit(0);
    }
    while (true) ::pause();
  });
  CHECK(end.status == "killed by signal 11 (SIGSEGV)");
  CHECK(end.why.empty());
}

TEST_CASE("student place: a thread without a place says it on stderr") {
  if (has_no_lines()) return;
  const std::string err = lab::testing::captured(2, [] {
    const pid_t child = lab::fork_process([] {
      const FollowedThread followed(nullptr, 2);
      std::thread([] { student::divide(1, zero); }).join();  // one that is not followed itself
      return 0;
    });
    int status = 0;
    ::waitpid(child, &status, 0);
  });
  CHECK(err == "error: rank 2" + at_line(student::kDivideLine) + "an integer is divided by zero\n");
}

TEST_CASE("student place: a thread in a loop says where it is, and goes on") {
  if (has_no_lines()) return;
  StudentPlace place{};
  std::atomic<bool> going = true;
  std::atomic<bool> started = false;
  std::thread thread([&] {
    const FollowedThread followed(&place, 0);
    started = true;
    student::loop_while(going);
  });
  while (!started) std::this_thread::yield();
  std::string where;
  while (where.empty()) where = place.where();  // between `started` and the loop it is in no student code
  going = false;
  thread.join();
  const int line = std::stoi(where.substr(where.find(':') + 1));
  CHECK(where.rfind("student/crashing.cpp:", 0) == 0);
  CHECK((line >= student::kLoopFirstLine && line <= student::kLoopLastLine));
  CHECK(place.where().empty());  // it has ended
}
