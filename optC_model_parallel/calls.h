#pragma once

#include "common/lab/case.h"

namespace lab::optc {

/// The student functions of all tasks.
CallTable calls();

}  // namespace lab::optc
