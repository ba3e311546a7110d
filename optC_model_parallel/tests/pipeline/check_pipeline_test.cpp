#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {
namespace {

/// The message about the model in such a pipeline.
std::string said(const std::string& model, const PipelineOptions& pipeline, int num_ranks) {
  TrainingOptions options;
  options.model = model;
  return testing::get_message([&] { check_pipeline(options, pipeline, num_ranks); });
}

const std::string kNothing = "nothing was thrown";

TEST_CASE("check_pipeline: what can be trained is let through") {
  for (const std::string& schedule : schedule_names()) {
    CAPTURE(schedule);
    CHECK(said("tutorial", {schedule, 5, 1}, 5) == kNothing);
    CHECK(said("deep", {schedule, 8, 1}, 8) == kNothing);
    CHECK(said("tutorial", {schedule, 7, 1}, 1) == kNothing);
  }
  CHECK(said("deep", {"interleaved", 8, 2}, 4) == kNothing);
  CHECK(said("tutorial", {"gpipe", 1, 1, true}, 4) == kNothing);
}

TEST_CASE("check_pipeline: names that are not known, or not for pipelines") {
  CHECK(said("pair", {}, 2) == "--model pair: expected one of tutorial, deep for a pipeline");
  CHECK(said("dep", {}, 2) == "--model dep: expected one of tutorial, deep for a pipeline; did you mean 'deep'?");
  CHECK(said("deep", {"1fb", 4, 1}, 2) ==
        "--schedule 1fb: expected one of gpipe, 1f1b, interleaved, pipedream, pipedream-sync, pipedream-2bw for a "
        "pipeline; did you mean '1f1b'?");
}

TEST_CASE("check_pipeline: more stages than layers") {
  CHECK(said("tutorial", {"gpipe", 4, 1}, 6) ==
        "--model tutorial: expected at least one layer for each of the 6 stages (6 ranks with 1 chunks each), got 5 "
        "layers; hint: `pipeline --model deep` has 8 layers");
  CHECK(said("deep", {"interleaved", 5, 2}, 5) ==
        "--model deep: expected at least one layer for each of the 10 stages (5 ranks with 2 chunks each), got 8 "
        "layers; hint: fewer ranks or chunks");
}

TEST_CASE("check_pipeline: chunks, micro-batches and recomputation that a schedule does not take") {
  CHECK(said("deep", {"1f1b", 4, 2}, 2) == "--chunks 2: expected 1 with 1f1b; hint: only interleaved has more");
  CHECK(said("deep", {"interleaved", 4, 0}, 2) == "--chunks 0: expected at least 1");
  CHECK(said("deep", {"gpipe", 0, 1}, 2) == "--micro-batches 0: expected at least 1");
  CHECK(said("deep", {"interleaved", 6, 2}, 4) ==
        "--micro-batches 6: interleaved expects a multiple of 4, the number of ranks; hint: --micro-batches 8");
  CHECK(said("deep", {"pipedream-2bw", 3, 1}, 4) ==
        "--micro-batches 3: pipedream-2bw expects at least 4, the number of ranks: fewer need more than two versions "
        "of the weights; hint: --micro-batches 4");
  CHECK(said("deep", {"pipedream", 3, 1}, 4) == kNothing);
  CHECK(said("deep", {"pipedream", 4, 1, true}, 4) ==
        "--recompute: expected a schedule that does not change weights under way (gpipe, 1f1b, interleaved), got "
        "pipedream");
}

}  // namespace
}  // namespace lab::optc
