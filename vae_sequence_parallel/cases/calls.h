#pragma once

#include "common/checks/case.h"

namespace lab::vae {

/// Task id -> student function, for the whole lab.
CallTable calls();

}  // namespace lab::vae
