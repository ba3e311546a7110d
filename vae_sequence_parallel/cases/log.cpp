#include "vae_sequence_parallel/cases/log.h"

#include "vae_sequence_parallel/cases/cases.h"

namespace lab::vae {
namespace {

/// The fields match any picture and any cost.
void expect_reconstruction(LogExpectation& log) {
  log.add(0, ExpectedText{"[Rank 0] A picture of {number} x {number}, encoded to a latent [1, {number}, {number}, "
                          "{number}], decoded in one process."});
  log.add(0, ExpectedText{"[Rank 0] What was decoded has {number} dB PSNR to the picture."});
  ExpectedMatch match;
  match.prefix = "Reconstruction";
  match.max_bound = 1e-3;
  log.add_on_every_rank(match);
  log.add_on_every_rank(
      ExpectedText{"[Rank {rank}] held at most {number} MB of activations; one process held {number} MB"});
  log.add(0, ExpectedText{"[Rank 0] Of {number} samples of the two JPEGs, {number} differ by one step of 8 bits "
                          "and {number} by more."});
  match.prefix = "Jpegs";
  match.max_bound = 1;
  log.add(0, match);
}

LogExpectation expected_parts(int num_ranks, bool modules, bool reconstruction) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  if (modules) expect_sections(log, sections());
  if (reconstruction) expect_reconstruction(log);
  log.add_on_every_rank(ExpectedText{"[Rank {rank}] done"});
  return log;
}

}  // namespace

LogExpectation expected_log(int num_ranks) {
  return expected_parts(num_ranks, true, true);
}

LogExpectation expected_modules_log(int num_ranks) {
  return expected_parts(num_ranks, true, false);
}

LogExpectation expected_test_log(int num_ranks) {
  return expected_parts(num_ranks, false, true);
}

}  // namespace lab::vae
