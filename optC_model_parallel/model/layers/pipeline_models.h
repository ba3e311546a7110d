#pragma once

#include "optC_model_parallel/model.h"

namespace lab::optc {

// models.h says what they are.
ModelSpec tutorial_model();
ModelSpec deep_model();
ModelSpec wide_model();

}  // namespace lab::optc
