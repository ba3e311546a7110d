#include <string>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/commands/memory.h"

// A separate program: LibTorch 2 refuses backward passes in processes forked from one that has run some.
namespace lab::optc {
namespace {

TEST_CASE("a cap that is too small gives one message, a large enough one none") {
#ifdef __SANITIZE_ADDRESS__
  MESSAGE("skipped: the address sanitizer ends a program that has no memory left");
#else
  MemoryRun run;
  run.training.dtype = at::kFloat;
  run.pipeline.schedule = "gpipe";
  run.pipeline.num_micro_batches = 500;
  run.micro_batch_size = 16;  // 360 MB on the first rank, more than may lie free in this process's heap
  run.cap_megabytes = 4;
  const std::string message = testing::get_message([&] { peak_activation_bytes(run); });
  CAPTURE(message);
  CHECK(testing::contains(message, "--cap 4: 500 micro-batches with gpipe need more than that many MB"));
  CHECK(testing::contains(message, "hint: --schedule 1f1b"));
  CHECK(!testing::contains(message, "frame #"));
  run.cap_megabytes = 100;
  run.pipeline.num_micro_batches = 50;
  CHECK(peak_activation_bytes(run).front() > 30'000'000);
#endif
}

}  // namespace
}  // namespace lab::optc
