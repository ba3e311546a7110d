#pragma once

#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/layers/blocks.h"

namespace lab::optc {

// Described in models.h.
ModelSpec pair_model(const Blocks& blocks);
ModelSpec pair_norm_model(const Blocks& blocks);
ModelSpec vit_model(const Blocks& blocks);
ModelSpec resnet_model(const Blocks& blocks);

}  // namespace lab::optc
