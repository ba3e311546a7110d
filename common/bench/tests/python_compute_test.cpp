#include "common/bench/python_compute.h"

#include "common/base/errors.h"
#include "common/base/subprocess.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

bool has_torch() {
  ProcessSpec python;
  python.argv = {"/usr/bin/python3", "-c", "import numpy, torch"};
  try {
    return run_program(python).well();
  } catch (const UsageError&) {
    return false;
  }
}

TEST_CASE("a process is larger by what it has touched since, and was, once it has given that back") {
  const PeakResident resident;
  CHECK(resident.bytes() < 16 << 20);
  {
    const std::vector<char> touched(64 << 20, 1);
    CHECK(touched.back() == 1);
  }
  CHECK(resident.bytes() >= 63 << 20);  // the kernel counts up to 64 pages late
  const PeakResident anew;
  CHECK(anew.bytes() < 16 << 20);
}

TEST_CASE("Python's work is measured, or left out") {
  CHECK_FALSE(python_compute({"a7"}));
  CHECK_FALSE(python_compute({"a5", "4", "x"}));
  if (!has_torch()) {
    MESSAGE("skipped: no python3 that has numpy and torch (python3-numpy, python3-torch)");
    return;
  }
  const auto found = python_compute({"a5", "4", "8", "2", "3", "1", "2", "--turns", "3", "--warm-up"});
  REQUIRE(found);
  CHECK(found->seconds.size() == 3);
  CHECK(found->seconds.front() > 0);
  CHECK(found->start_seconds > 0);
  CHECK(found->peak_bytes >= 0);
  CHECK(found->checksum > 0);
}

}  // namespace
}  // namespace lab
