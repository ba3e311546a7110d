#pragma once

#include <ATen/ATen.h>

#include <string>

namespace lab {

/// Writes one tensor into a file that Python's torch.load() reads, even with weights_only=True. It appears complete or
/// not at all.
/// Shapes    any, including [] and empty
/// Aliasing  none: a tensor that is not contiguous, not on the CPU or a part of a larger one is copied first
/// Errors    UsageError: cannot be written, or above 4 GiB; an existing file is untouched.
///           ContractError: an undefined tensor
/// Source    https://pytorch.org/docs/stable/notes/serialization.html
void save_torch_tensor(const std::string& path, const at::Tensor& tensor);

/// The tensor of such a file, or of one that Python's torch.save() wrote.
/// Aliasing  none
/// Errors    UsageError: cannot be read; not such a file, or one above 4 GiB; damaged, which its checksums show, or
///           truncated; holds anything other than one plain tensor. Checksums detect accidents, not malice: LibTorch's
///           reader may crash on a crafted file
at::Tensor load_torch_tensor(const std::string& path);

}  // namespace lab
