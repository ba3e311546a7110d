#pragma once

#include <ATen/ATen.h>

#include <string>

// The GPUs that ranks compute on.
namespace lab {

/// Of --device: 0 for "cpu", the number of this machine's GPUs for "cuda". They are counted in a process of its own: a
/// process that has asked CUDA cannot fork ranks that use it.
/// Call      as fork_process()
/// Errors    UsageError: there is none, or this LibTorch has no CUDA
int gpus_for(const std::string& device);

/// The ranks of one machine take its GPUs in turn; without one, the CPU.
at::Device device_of_rank(int num_gpus, int local_rank);

/// Makes the calling thread compute as the checks expect: float32 in full, not in TF32; the same algorithms in every run;
/// and backward() on this thread, whose rank its messages belong to.
/// Errors    UsageError: a GPU, and a LibTorch before 2.0, which cannot
void prepare_device(at::Device device);

}  // namespace lab
