#pragma once

#include <cstdint>

// Which version of its weights a stage's forward pass of a mini-batch begins with. Version v is what the updates of the
// first v mini-batches have made; all counts are from 0, and from the last time the pipeline was empty.
namespace lab::optc {

/// optC.pipedream. The newest that there is when 1F1B comes to this forward pass: stage s of p has by then done the
/// backward passes, and so the updates, of all mini-batches but the p-1-s before it.
/// Source    PipeDream, arXiv:1806.03377, section 3.3, weight stashing
/// Example   stage 1 of 4: mini-batch 2 has version 0, mini-batch 3 version 1
std::int64_t pipedream_version(std::int64_t mini_batch, int stage, int num_stages);

/// optC.vertical_sync. The same version on all stages: the one that the first stage used for this mini-batch.
/// Source    PipeDream, section 3.3, vertical sync
std::int64_t vertical_sync_version(std::int64_t mini_batch, int num_stages);

/// optC.pipedream_2bw. Two versions are enough: gradients of a mini-batch's m micro-batches are added up, and a
/// mini-batch is computed with the weights of one update ago. Requires m >= p.
/// Source    PipeDream-2BW, arXiv:2006.09503, section 3.1: W(t+1) = W(t) - lr * gradient at W(t-1)
/// Example   m = 4: micro-batches 0 to 7 have version 0, 8 to 11 version 1
std::int64_t pipedream_2bw_version(std::int64_t micro_batch, std::int64_t micro_batches_per_mini_batch);

}  // namespace lab::optc
