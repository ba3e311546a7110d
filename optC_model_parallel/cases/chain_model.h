#pragma once

#include <cstdint>

#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// A model for checks: the given number of layers, all small, each of a different width, so that the messages between
/// two stages are unlike those between any others. Layers are smooth: a wrong gradient is wrong everywhere.
ModelSpec chain_model(std::int64_t num_layers);

/// Random images and labels from the seed, with nothing to learn.
Images random_images(std::int64_t count, std::uint64_t seed);

}  // namespace lab::optc
