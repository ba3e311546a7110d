#pragma once

#include <cstdint>

// Which version of its weights a stage uses for a mini-batch's forward pass. Version v has the updates of the first v
// mini-batches; all counts start at 0, and restart whenever the pipeline is drained.
namespace lab::optc {

/// optC.pipedream. The newest version when 1F1B reaches this forward pass: by then stage s of p has done the backward
/// passes, and so the updates, of all earlier mini-batches but the last p-1-s.
/// Source    PipeDream, arXiv:1806.03377, section 3.3, weight stashing
/// Example   stage 1 of 3: mini-batch 1 has version 0, mini-batch 2 version 1
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
