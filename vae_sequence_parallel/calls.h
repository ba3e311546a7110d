#pragma once

#include "common/lab/case.h"

namespace lab::vae {

/// Task id -> student function, of the whole lab.
CallTable calls();

}  // namespace lab::vae
