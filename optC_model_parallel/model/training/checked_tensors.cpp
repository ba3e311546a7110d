#include "optC_model_parallel/model/training/checked_tensors.h"

#include <fmt/format.h>

#include <string_view>

#include "common/api/shapes.h"
#include "common/base/checksum.h"

namespace lab::optc {
namespace {

constexpr const char* kOfMetadata = "checksum";
constexpr std::string_view kOfTensor = "checksum.";

std::string checksum_text(std::string_view bytes) {
  return fmt::format("{:016x}", checksum_of(bytes));
}

/// Of its bytes, dtype and shape. A single different byte is always detected: each step of the checksum is a bijection.
std::string checksum_of_tensor(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kCPU).contiguous();
  const std::string bytes = checksum_text({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  return checksum_text(describe(values) + ' ' + bytes);
}

std::string checksum_of_metadata(const SafetensorsMetadata& metadata) {
  std::string all;
  for (const auto& [key, value] : metadata) {
    if (key != kOfMetadata) all += fmt::format("{}={}\n", key, value);
  }
  return checksum_text(all);
}

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw DamagedFile(fmt::format("'{}' is damaged: {}", path, reason));
}

void require_checksum(const std::string& path, const std::string& what, const SafetensorsMetadata& metadata,
                      const std::string& key, const std::string& actual) {
  const auto expected = metadata.find(key);
  if (expected == metadata.end()) refuse(path, fmt::format("{} has no checksum", what));
  if (expected->second != actual)
    refuse(path, fmt::format("{} has the checksum {}, expected {}", what, actual, expected->second));
}

}  // namespace

std::string save_checked(const std::string& path, const TensorMap& tensors, SafetensorsMetadata metadata) {
  for (const auto& [name, tensor] : tensors)
    metadata[fmt::format("{}{}", kOfTensor, name)] = checksum_of_tensor(tensor);
  const std::string checksum = metadata[kOfMetadata] = checksum_of_metadata(metadata);
  save_safetensors(path, tensors, metadata);
  return checksum;
}

CheckedTensors load_checked(const std::string& path) {
  CheckedTensors loaded;
  try {
    loaded.metadata = load_safetensors_metadata(path);
    loaded.tensors = load_safetensors(path);
  } catch (const UsageError& error) {
    throw DamagedFile(error.what());
  }
  require_checksum(path, "its metadata", loaded.metadata, kOfMetadata, checksum_of_metadata(loaded.metadata));
  for (auto& [name, tensor] : loaded.tensors) {
    tensor = tensor.clone();
    require_checksum(path, fmt::format("tensor '{}'", name), loaded.metadata, fmt::format("{}{}", kOfTensor, name),
                     checksum_of_tensor(tensor));
  }
  for (const auto& entry : loaded.metadata) {
    if (entry.first.compare(0, kOfTensor.size(), kOfTensor) != 0) continue;
    const std::string name = entry.first.substr(kOfTensor.size());
    if (loaded.tensors.count(name) == 0) refuse(path, fmt::format("tensor '{}' is missing", name));
  }
  return loaded;
}

}  // namespace lab::optc
