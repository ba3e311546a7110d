#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

namespace lab::vae {

/// The peak number of tensor bytes that this rank held while `work` ran, on top of what it held before.
/// Call      local; runs work once
/// Source    the handout's torch.cuda.reset_peak_memory_stats() and max_memory_allocated(), on any device
/// Example   work makes a tensor of 1 MiB, drops it, and makes one of 2 MiB: 2 MiB
std::int64_t peak_bytes_of(const std::function<void()>& work, at::Device device);

}  // namespace lab::vae
