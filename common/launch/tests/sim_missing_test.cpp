#include "common/testing/test.h"
#include "common/testing/worlds.h"

// In a build without SimGrid, in place of the other sim tests.
namespace lab::launch {
namespace {

TEST_CASE("sim: a build without SimGrid says so") {
  MESSAGE("skipped: this build has no SimGrid");
  CHECK_THROWS_WITH_AS(run_ranks(choose_world<Sim>(2), [](Communicator&) { return TensorMap{}; }),
                       "--world sim: this build has no SimGrid; hint: ./lab build installs libsimgrid-dev", UsageError);
}

}  // namespace
}  // namespace lab::launch
