#pragma once

// For tests of units without tensors: they neither include nor link LibTorch.
#include <doctest/doctest.h>
