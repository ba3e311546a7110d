#pragma once

#include "common/lab/case.h"

namespace lab::optc {

/// The student functions of the pipeline's tasks.
CallTable pipeline_calls();

}  // namespace lab::optc
