#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/testing/test.h"
#include "optC_model_parallel/commands/memory.h"

// How much of a batch of many micro-batches each stage holds. Bytes, which are the same in every run.
namespace lab::optc {
namespace {

MemoryRun make_run(const std::string& schedule, std::int64_t num_micro_batches, bool recompute = false) {
  MemoryRun run;
  run.kind = launch::WorldKind::kThreads;
  run.training.dtype = at::kFloat;
  run.pipeline.schedule = schedule;
  run.pipeline.num_micro_batches = num_micro_batches;
  run.pipeline.recompute = recompute;
  return run;
}

TEST_CASE("with 1f1b a stage holds as much of 50 micro-batches as of 500, within 5 %") {
  const std::vector<std::int64_t> few = peak_activation_bytes(make_run("1f1b", 50));
  const std::vector<std::int64_t> many = peak_activation_bytes(make_run("1f1b", 500));
  REQUIRE(few.size() == 4);
  for (std::size_t rank = 0; rank < few.size(); ++rank) {
    INFO("rank " << rank << ": " << few[rank] << " and " << many[rank] << " bytes");
    CHECK(few[rank] > 0);
    CHECK(20 * std::abs(many[rank] - few[rank]) <= few[rank]);
  }
}

TEST_CASE("with gpipe the first stage holds ten times as much of ten times the micro-batches") {
  const std::int64_t few = peak_activation_bytes(make_run("gpipe", 50)).front();
  const std::int64_t many = peak_activation_bytes(make_run("gpipe", 500)).front();
  CHECK(many > 9 * few);
}

TEST_CASE("with recompute, gpipe holds the inputs of its stages and little more") {
  const std::vector<std::int64_t> whole = peak_activation_bytes(make_run("gpipe", 200));
  const std::vector<std::int64_t> recomputed = peak_activation_bytes(make_run("gpipe", 200, true));
  CHECK(20 * recomputed[0] < whole[0]);  // its inputs are images, which can be made again, too
  const std::int64_t inputs = 200 * 6 * 14 * 14 * 4;
  CHECK(recomputed[1] > inputs);
  CHECK(recomputed[1] < inputs + whole[1] / 10);
}

TEST_CASE("the forecast for gpipe comes true") {
  for (const bool recompute : {false, true}) {
    const MemoryRun run = make_run("gpipe", 300, recompute);
    const std::vector<std::int64_t> expected = forecast_activation_bytes(run), got = peak_activation_bytes(run);
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      INFO("rank " << rank << ": forecast " << expected[rank] << ", got " << got[rank] << " bytes");
      CHECK(20 * std::abs(got[rank] - expected[rank]) <= got[rank]);
    }
  }
}

}  // namespace
}  // namespace lab::optc
