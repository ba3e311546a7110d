#pragma once

// Everything that student code may see, precompiled, followed by the names that it must not use: the transport, what is
// behind a communicator, a library's own collectives, inline assembler. A unit that uses one does not compile, however it
// got the header.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/optim/sgd.h>  // of five files of A4: it would take three quarters of their time

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/api/shapes.h"

// These use assembler themselves, so they come before its names are poisoned.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC poison c10d gloo get_endpoint asm __asm __asm__
