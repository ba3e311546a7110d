#include "a5_pipeline/data_loader.h"

namespace lab::a5 {

bool requires_dataloader(int pp_rank, int pp_size) {
  return pp_rank == 0 && pp_size > 0;
}

}  // namespace lab::a5
