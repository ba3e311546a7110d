#pragma once

#include "common/lab/case.h"

namespace lab::vae {

/// The case of a GroupNorm with what it looks like if the moments of ranks are put together wrongly: each rank's own
/// only, or averaged variances, which lack how far the means of ranks are apart.
Case with_norm_suspects(Case the_case);

}  // namespace lab::vae
