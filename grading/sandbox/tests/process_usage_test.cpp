#include "grading/sandbox/process_usage.h"

#include <unistd.h>

#include <cstring>
#include <ctime>
#include <memory>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

double own_cpu_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST_CASE("what a process uses in a case is seen from outside") {
  ProcessUsage usage;
  usage.case_begins(::getpid());
  const double begin = own_cpu_seconds();
  while (own_cpu_seconds() < begin + 0.2) {
  }
  constexpr std::size_t kBytes = 200 << 20;
  {
    const std::unique_ptr<char[]> memory(new char[kBytes]);
    std::memset(memory.get(), 1, kBytes);
    volatile char touched = memory[kBytes / 2];
    CHECK(touched == 1);
  }
  const SeenUse seen = usage.case_ended(::getpid());
  CHECK(seen.cpu_seconds >= 0.15);
  CHECK(seen.cpu_seconds <= own_cpu_seconds() - begin + 0.1);
  CHECK(seen.peak_bytes > (190 << 20));

  usage.case_begins(::getpid());
  const SeenUse next = usage.case_ended(::getpid());
  CHECK(next.cpu_seconds < 0.15);
  CHECK(next.peak_bytes < (1 << 20));  // an earlier case had reached as much
}

TEST_CASE("a process that is gone, or another one, has no use") {
  ProcessUsage usage;
  const std::string gone = testing::get_message<UsageError>([&] { usage.case_begins(0x3FFFFFFF); });
  CHECK(testing::contains(gone, "has ended"));
  usage.case_begins(::getpid());
  CHECK(testing::contains(testing::get_message<UsageError>([&] { usage.case_ended(::getppid()); }), "hands in for"));
}

}  // namespace
}  // namespace lab::grading
