#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/launch/bfloat16_mode.h"

// How bfloat16_mode.h finds its mode: the parts that its tests take in their own hands.
namespace lab {

struct Bfloat16Search {
  std::optional<Bfloat16Mode> proven;
  /// Why each mode that was tried before it is not: "default: the probe was killed by signal 4 (SIGILL); ...".
  std::string rejected;
};

/// Tries the modes in turn, until work returns in one: in a child that uses the mode, on one thread.
/// Errors    UsageError: the system refuses another process. Whatever work does, throws or dies of rejects its mode
Bfloat16Search search_bfloat16_mode(const std::vector<Bfloat16Mode>& modes,
                                    const std::function<void(Bfloat16Mode)>& work, unsigned limit_seconds);

/// Uses the proven mode in this process and returns it.
/// Errors    UsageError: none was proven
Bfloat16Mode use_found(const Bfloat16Search& search);

/// The work of the real search: a linear layer's three products and its batched kin in several shapes, an addition, a
/// ReLU, a mean.
/// Errors    Error with ExitCode::kMismatch: one does not agree with float32
void check_bfloat16_operations();

/// Errors    Error with ExitCode::kMismatch: actual, in bfloat16, is further than 2^-6 from expected, by relative norm
void require_agreement(const std::string& operation, const at::Tensor& actual, const at::Tensor& expected);

}  // namespace lab
