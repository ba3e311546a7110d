#include "optC_model_parallel/step_of_all.h"

#include <algorithm>

namespace lab::optc {

Checkpoints::Agree step_of_all(Collectives& comm) {
  return [&comm](const std::vector<std::int64_t>& steps) {
    constexpr std::int64_t kMost = 2, kNone = -1;
    const at::Tensor own = at::full({kMost}, kNone, at::kLong);
    std::vector<std::int64_t> newest(steps);
    std::sort(newest.rbegin(), newest.rend());
    for (std::size_t i = 0; i < std::min<std::size_t>(kMost, newest.size()); ++i)
      own[static_cast<std::int64_t>(i)] = newest[i];
    const std::vector<at::Tensor> all = comm.all_gather(own);
    const auto everybody_has = [&](std::int64_t step) {
      return std::all_of(all.begin(), all.end(),
                         [&](const at::Tensor& of_rank) { return of_rank.eq(step).any().item<bool>(); });
    };
    for (const std::int64_t step : newest) {
      if (everybody_has(step)) return step;
    }
    return kNone;
  };
}

}  // namespace lab::optc
