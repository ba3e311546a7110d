#pragma once

#include <cstdint>
#include <string>

#include "common/tensor/safetensors_header.h"

namespace lab {

/// Returns if the header's tensors fill the `buffer_bytes` after it exactly: each as long as its dtype and shape say,
/// none beyond the end, no overlap and no hole.
/// Errors    UsageError: which tensor, expected and got; `path` names the file in the sentence
void check_safetensors_layout(const SafetensorsHeader& header, uint64_t buffer_bytes, const std::string& path);

}  // namespace lab
