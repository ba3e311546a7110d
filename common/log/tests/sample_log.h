#pragma once

#include <string>

#include "common/log/log_expectation.h"

namespace lab::testing {

/// A log with every kind of line, of three ranks.
inline log::LogExpectation sample_expectation() {
  log::LogExpectation log(3);
  log.add_on_every_rank(log::ExpectedText{"[Distributed Init] Rank {rank} initialized on {node} on {device} {index}."});
  log.add(0, log::ExpectedText{"[Rank 0] All ranks ready!"});
  log.add(0, log::ExpectedText{"[Rank 0] Compute the updated matrix."});
  log.add(0, log::ExpectedMatch{"", false, 0.0, "1.193051e-01", "3.029096e-02"});
  log.add(0, log::ExpectedText{"[Rank 0] Accumulate, {number} steps."});
  log.add(0, log::ExpectedMatch{"", true, 1e-6, "", ""});
  log.add_on_every_rank(log::ExpectedMatch{"DataParallel", true, 1e-6, "", ""});
  log.add_on_every_rank(log::ExpectedSkip{"Bias", ""});
  log.add(1, log::ExpectedSkip{"Sandbox", "no namespaces"});
  log.add_on_every_rank(log::ExpectedText{"[Rank {rank}] done"});
  return log;
}

inline std::string sample_log() {
  return "[Distributed Init] Rank 1 initialized on N/A on CPU 1.\n"
         "[Distributed Init] Rank 0 initialized on N/A on CPU 0.\n"
         "[Distributed Init] Rank 2 initialized on 7 on GPU 12.\n"
         "[Rank 0] All ranks ready!\n"
         "[Rank 0] Compute the updated matrix.\n"
         "[Rank 0] Tensors match: False | Max diff: 1.193051e-01 | Mean diff: 3.029096e-02\n"
         "[Rank 0] Accumulate, 4 steps.\n"
         "[Rank 0] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09\n"
         "[DataParallel][Rank 2] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09\n"
         "[Bias][Rank 2] skipped: no bias\n"
         "[DataParallel][Rank 0] Tensors match: True | Max diff: 0.000000e+00 | Mean diff: 0.000000e+00\n"
         "[DataParallel][Rank 1] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09\n"
         "[Bias][Rank 1] skipped: no bias\n"
         "[Sandbox][Rank 1] skipped: no namespaces\n"
         "[Rank 2] done\n"
         "[Bias][Rank 0] skipped: no bias\n"
         "[Rank 1] done\n"
         "[Rank 0] done\n";
}

}  // namespace lab::testing
