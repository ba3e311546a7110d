#pragma once

#include <ATen/ATen.h>

namespace lab::testing {

/// A device for machines without a GPU, one per rank. Its memory cannot be read by dereferencing data_ptr(), and an
/// operation on tensors of which one is on it and another on the CPU is refused, both as on a GPU; what it computes is
/// what the CPU computes. backward() runs on a thread per device, also as on a GPU: a process that has asked for a device
/// cannot fork ranks that use backward().
at::Device stand_in_device(int rank);

}  // namespace lab::testing
