#pragma once

#include "common/lab/case.h"

namespace lab::a9 {

/// Task id -> student function, of the whole lab.
CallTable calls();

}  // namespace lab::a9
