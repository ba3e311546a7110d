#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/api/tensor_map.h"

namespace lab {

using SafetensorsMetadata = std::map<std::string, std::string>;

/// Writes the tensors into a file that Python's safetensors reads. It appears complete or not at all.
/// Shapes    any, including [] and empty; float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool
/// Aliasing  none: a tensor that is not contiguous or not on the CPU is copied first
/// Errors    UsageError: cannot be written, another dtype, an undefined tensor, a name that the format cannot hold;
///           an existing file is untouched
/// Source    https://github.com/huggingface/safetensors#format
void save_safetensors(const std::string& path, const TensorMap& tensors, const SafetensorsMetadata& metadata = {});

/// The tensors of a file, checked in full before any is returned.
/// Aliasing  the tensors share one private mapping of the file, which lives as long as the last of them: writing into
///           one changes neither the file nor another reader's. The file must not be shortened in place meanwhile
/// Cost      bytes are read when first touched, except bool tensors, which are checked, and tensors that are not
///           aligned for their dtype, which are copied
/// Errors    UsageError: cannot be read; any violation of the format: what, expected, got
TensorMap load_safetensors(const std::string& path);

/// The strings stored with the tensors; empty if there are none.
/// Errors    as load_safetensors()
SafetensorsMetadata load_safetensors_metadata(const std::string& path);

/// The bytes of the file that save_safetensors() writes.
/// Errors    UsageError: as there, except for errors of the file itself
std::string to_safetensors(const TensorMap& tensors, const SafetensorsMetadata& metadata = {});

/// The reference implementation's limit on a header.
constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;

struct SafetensorsContent {
  TensorMap tensors;
  SafetensorsMetadata metadata;
};

/// Parses such bytes, with the same checks as for a file.
/// Aliasing  none: the tensors are copies
/// Errors    UsageError: as load_safetensors(), with `name` in place of the path
SafetensorsContent from_safetensors(std::string_view bytes, const std::string& name,
                                    std::uint64_t max_header_bytes = kMaxSafetensorsHeaderBytes);

}  // namespace lab
