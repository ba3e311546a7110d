#pragma once

#include <ATen/ATen.h>

#include <string>

namespace lab {

/// Writes one tensor into a file that Python's torch.load() reads, also with weights_only=True. It appears complete or
/// not at all.
/// Shapes    any, also [] and empty
/// Aliasing  none: a tensor that is not contiguous, not on the CPU or a part of a larger one is copied first
/// Errors    UsageError: cannot be written, or above 4 GiB; whatever stood under the path is untouched.
///           ContractError: an undefined tensor
/// Source    https://pytorch.org/docs/stable/notes/serialization.html
void save_torch_tensor(const std::string& path, const at::Tensor& tensor);

/// The tensor of such a file, also of one that Python's torch.save() wrote.
/// Aliasing  none
/// Errors    UsageError: cannot be read; not such a file, or one above 4 GiB; damaged, which its checksums show, or cut
///           short; holds something else than one plain tensor. Checksums tell of accidents, not of intent: LibTorch's
///           reader may crash on a file that was made to harm it
at::Tensor load_torch_tensor(const std::string& path);

}  // namespace lab
