#pragma once

#include <string>

#include "common/api/errors.h"
#include "common/api/tensor_map.h"
#include "common/tensor/files/safetensors.h"

namespace lab::optc {

/// A file that differs from what was written.
class DamagedFile : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Writes a safetensors file with a checksum of every tensor ("checksum.NAME") and one of all the metadata ("checksum").
/// Returns   the latter, which differs between files with different tensors or metadata
/// Errors    UsageError: as save_safetensors()
std::string save_checked(const std::string& path, const TensorMap& tensors, SafetensorsMetadata metadata);

struct CheckedTensors {
  TensorMap tensors;  ///< copies: the file may be replaced
  SafetensorsMetadata metadata;
};

/// Reads such a file in full and compares all checksums.
/// Errors    DamagedFile: it cannot be read, or a tensor, its name, dtype or shape, or the metadata, has changed or has no
///           checksum ("'c/step00000040.rank1.safetensors' is damaged: tensor 'state.fc1.weight' has the checksum ...,
///           expected ...")
CheckedTensors load_checked(const std::string& path);

}  // namespace lab::optc
