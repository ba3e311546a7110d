#pragma once

#include <functional>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/tensor_map.h"
#include "vae_sequence_parallel/model/width_shard.h"
#include "vae_sequence_parallel/weights.h"

// A module on a whole picture, and its parallel version on the same picture split along the width.
namespace lab::vae {

struct WidthTrial {
  at::Tensor x;                      ///< whole; parameters and the output gradient have its dtype
  std::vector<std::int64_t> widths;  ///< one per rank
  bool exact = false;                ///< parameters and gradient are exact_values(); else random ones of about 1
  std::function<at::Tensor(const Weights& weights, const at::Tensor& x)> serial;
  std::function<WidthShard(const Weights& weights, WidthShard x, Communicator& comm)> parallel;
};

/// The trial of a serial module and its parallel version, made of the same arguments.
template <class Serial, class Parallel, class... Arguments>
WidthTrial make_trial(const at::Tensor& x, const std::vector<std::int64_t>& widths, const Arguments&... arguments) {
  WidthTrial trial;
  trial.x = x;
  trial.widths = widths;
  trial.serial = [=](const Weights& weights, const at::Tensor& whole) {
    return Serial(weights, arguments...).forward(whole);
  };
  trial.parallel = [=](const Weights& weights, WidthShard shard, Communicator& comm) {
    return Parallel(weights, arguments..., comm).forward(std::move(shard));
  };
  return trial;
}

/// "out", "x.grad" and "<parameter>.grad", as float64; also computed in float64 if requested.
TensorMap serial_results(const WidthTrial& trial, bool in_float64 = false);
/// The same from all ranks of a world of threads: columns joined, gradients of parameters summed.
/// Errors    std::runtime_error: a rank failed, with its message
TensorMap parallel_results(const WidthTrial& trial);

/// Ways to spread columns over `size` ranks: 2 each; 2 1 1 1; 1 4 1 1; all on the even ranks, or on the last.
std::vector<std::vector<std::int64_t>> width_patterns(int size);

std::int64_t compute_total(const std::vector<std::int64_t>& widths);

}  // namespace lab::vae
