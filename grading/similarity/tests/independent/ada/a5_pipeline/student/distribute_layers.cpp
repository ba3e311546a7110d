#include "a5_pipeline/pipeline_stage.h"

namespace lab::a5 {

std::vector<std::int64_t> distribute_layers(std::int64_t number_of_layers, int pp_rank, int pp_size) {
  int64_t base = number_of_layers / pp_size;
  int64_t extra = number_of_layers % pp_size;
  int64_t start = pp_rank * base + std::min<int64_t>(pp_rank, extra);
  int64_t count = base + (pp_rank < extra ? 1 : 0);
  std::vector<int64_t> layers;
  for (int64_t i = start; i < start + count; i++) {
    layers.push_back(i);
  }
  return layers;
}

}  // namespace lab::a5
