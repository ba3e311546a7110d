#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::a9 {

/// The five collectives: every one at least once on the handout's numbers, and on data of other shapes, dtypes and
/// strides, from other ranks and along other dimensions. Their bounds demand that the result came by messages.
std::vector<Case> collective_cases();

}  // namespace lab::a9
