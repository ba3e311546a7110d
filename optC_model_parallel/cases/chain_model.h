#pragma once

#include <cstdint>

#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// A model for checks: as many layers as asked for, all of them small, each of another width, so that what travels
/// between two stages is like nothing that travels elsewhere. Layers are smooth: a gradient that is wrong is wrong
/// everywhere.
ModelSpec chain_model(std::int64_t num_layers);

/// Images and labels drawn from the seed, with nothing to learn in them.
Images random_images(std::int64_t count, std::uint64_t seed);

}  // namespace lab::optc
