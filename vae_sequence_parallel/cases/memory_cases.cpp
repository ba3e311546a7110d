#include "vae_sequence_parallel/cases/cases.h"

namespace lab::vae {
namespace {

/// Three pieces of work: each holds the first two of its MiB at once, later the third alone.
at::Tensor mib_of_work(int rank) {
  return at::tensor(std::vector<std::int64_t>{5, 3, 4, 1, 1, 3 + rank, 2, 1, 1}, at::kLong).view({3, 3});
}

/// In bytes; the last piece of work is none.
at::Tensor peaks_of_work(int rank) {
  const at::Tensor mib = mib_of_work(rank);
  const at::Tensor peaks = at::maximum(mib.select(1, 0) + mib.select(1, 1), mib.select(1, 2));
  return at::cat({peaks, at::zeros({1}, at::kLong)}) * (1 << 20);
}

}  // namespace

std::vector<Case> memory_cases() {
  Case result;
  result.task = "vae.memory";
  result.name = result.prefix = "PeakBytes";
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors["input.mib"] = mib_of_work(place.rank);
    return inputs;
  };
  result.expected = [](const CasePlace& place) {
    return TensorMap{{"bytes", peaks_of_work(place.rank)}, {"num_runs", at::tensor(std::int64_t{4}, at::kLong)}};
  };
  return {result};
}

}  // namespace lab::vae
