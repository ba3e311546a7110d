#include "common/base/own_core.h"

#include "common/testing/plain_test.h"

namespace lab {
namespace {

cpu_set_t cores_of_this_thread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof(cores), &cores);
  return cores;
}

TEST_CASE("each rank gets another core of those that this process may use, if they suffice") {
  const cpu_set_t usable = cores_of_this_thread();
  const int num_cores = CPU_COUNT(&usable);
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (int rank = 0; rank < num_cores; ++rank) {
    const std::optional<cpu_set_t> core = own_core(rank, num_cores);
    REQUIRE(core);
    CHECK(CPU_COUNT(&*core) == 1);
    CPU_OR(&taken, &taken, &*core);
  }
  CHECK(CPU_EQUAL(&taken, &usable));
  CHECK_FALSE(own_core(0, num_cores + 1));
}

TEST_CASE("a thread is on one of the cores that it may use") {
  const cpu_set_t usable = cores_of_this_thread();
  const std::optional<cpu_set_t> core = current_core();
  REQUIRE(core);
  cpu_set_t both;
  CPU_AND(&both, &usable, &*core);
  CHECK(CPU_COUNT(&*core) == 1);
  CHECK(CPU_COUNT(&both) == 1);
}

TEST_CASE("a scope binds its thread, and lets it go again") {
  const cpu_set_t before = cores_of_this_thread();
  {
    const std::optional<cpu_set_t> own = own_core(0, 1);
    const CoreScope scope(own);
    const cpu_set_t bound = cores_of_this_thread();
    CHECK(CPU_EQUAL(&bound, &*own));
    const CoreScope inside(std::nullopt);
    const cpu_set_t as_before = cores_of_this_thread();
    CHECK(CPU_EQUAL(&as_before, &bound));
  }
  const cpu_set_t after = cores_of_this_thread();
  CHECK(CPU_EQUAL(&after, &before));
}

}  // namespace
}  // namespace lab
