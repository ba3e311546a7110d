#pragma once

// All that student code may see, precompiled; and behind it, the names that it must not use. A unit that reaches for
// the transport or for a library's own collectives does not compile, however it got the header.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "common/base/errors.h"
#include "common/comm/communicator.h"
#include "common/tensor/partition.h"
#include "common/tensor/shape_check.h"

#pragma GCC poison c10d gloo
