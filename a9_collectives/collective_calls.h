#pragma once

#include "common/lab/case.h"

namespace lab::a9 {

/// Task id -> student function, of the five collectives and their algorithms.
CallTable collective_calls();

}  // namespace lab::a9
