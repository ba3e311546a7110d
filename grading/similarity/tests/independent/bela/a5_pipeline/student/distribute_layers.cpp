#include "a5_pipeline/pipeline_stage.h"

namespace lab::a5 {

std::vector<std::int64_t> distribute_layers(std::int64_t number_of_layers, int pp_rank, int pp_size) {
  std::vector<std::int64_t> mine;
  const auto each = number_of_layers / pp_size, rest = number_of_layers % pp_size;
  std::int64_t next = 0;
  for (int stage = 0; stage < pp_size; ++stage) {
    const auto here = each + (stage < rest);
    for (std::int64_t k = 0; k < here; ++k, ++next)
      if (stage == pp_rank) mine.push_back(next);
  }
  return mine;
}

}  // namespace lab::a5
