#pragma once

#include "optC_model_parallel/model.h"

namespace lab::optc {

// Described in models.h.
ModelSpec tutorial_model();
ModelSpec deep_model();

}  // namespace lab::optc
