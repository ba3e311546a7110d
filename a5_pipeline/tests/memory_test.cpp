#include "a5_pipeline/calls/pipelined_model.h"
#include "common/pipeline/generators.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The ranks' peak memory, by the memory meter: with all-forward-all-backward it grows with the number of
// micro-batches, with the other schedules it does not. In bytes, which are the same in every run.
namespace lab::a5 {
namespace {

constexpr int kNumRanks = 4;

/// Each rank's peak bytes. Many tokens and narrow layers: a layer's weights and their gradients take 8 KiB, what a
/// micro-batch keeps alive in it 24 KiB.
std::vector<double> peaks(const std::string& kind, int num_micro_batches) {
  PipelineArguments arguments;
  arguments.micro_batch_size = 2;
  arguments.global_batch_size = 2 * num_micro_batches;
  arguments.sequence_length = 64;
  arguments.hidden_size = 16;
  arguments.intermediate_size = 32;
  arguments.number_of_layers = 2 * kNumRanks;
  pipeline::ScheduleOptions options;
  options.kind = kind;
  options.num_ranks = kNumRanks;
  options.num_micro_batches = num_micro_batches;
  options.num_chunks = kind == "interleaved" ? 2 : 1;
  const pipeline::Schedule schedule = pipeline::make_schedule(options);
  const launch::WorldOutcome outcome = launch::run_ranks(threads(kNumRanks), [&](Communicator& comm) {
    const DataLoader data(arguments);
    ScheduledStage work(arguments, schedule, data, comm, OutputTaker());
    run_schedule(schedule, comm.point_to_point(), work,
                 pipeline::same_buffers(arguments.activation_shape(), arguments.tensor_options()));
    return TensorMap{};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  std::vector<double> bytes;
  for (const launch::RankOutcome& rank : outcome.ranks)
    bytes.push_back(static_cast<double>(rank.report.peak_tensor_bytes));
  return bytes;
}

TEST_CASE("what a rank holds with 1f1b, zb-h1 and interleaved is the same for 8 micro-batches as for 256") {
  for (const std::string kind : {"1f1b", "zb-h1", "interleaved"}) {
    const std::vector<double> few = peaks(kind, 8), many = peaks(kind, 256);
    for (std::size_t rank = 0; rank < kNumRanks; ++rank) {
      INFO(kind << ", rank " << rank << ": " << few[rank] << " and " << many[rank] << " bytes");
      CHECK(std::abs(many[rank] - few[rank]) <= 0.05 * few[rank]);
    }
  }
}

TEST_CASE("what a rank holds with all-forward-all-backward grows with the number of micro-batches") {
  const std::vector<double> few = peaks("afab", 8), many = peaks("afab", 64);
  for (std::size_t rank = 0; rank < kNumRanks; ++rank) {
    INFO("rank " << rank << ": " << few[rank] << " and " << many[rank] << " bytes");
    CHECK(many[rank] >= 4 * few[rank]);
  }
}

TEST_CASE("with 1f1b a rank holds fewer micro-batches the later its stage; with all-forward-all-backward all of them") {
  const std::vector<double> late = peaks("1f1b", 8), all = peaks("afab", 8);
  for (std::size_t rank = 0; rank < kNumRanks; ++rank) {
    INFO("rank " << rank << ": " << late[rank] << " and " << all[rank] << " bytes");
    CHECK(late[rank] < all[rank]);
    if (rank > 0) CHECK(late[rank] < late[rank - 1]);
  }
}

}  // namespace
}  // namespace lab::a5
