#include "common/tensor/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/report/errors.h"
#include "common/report/atomic_file.h"
#include "common/tensor/mapped_file.h"
#include "common/tensor/safetensors_header.h"
#include "common/tensor/safetensors_layout.h"

namespace lab {
namespace {

// A file is 8 bytes with the header's size (little-endian), the header (JSON), the buffer (all tensors, little-endian).
constexpr uint64_t kSizeBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit

struct CheckedFile {
  std::shared_ptr<MappedFile> file;
  SafetensorsHeader header;
  char* buffer = nullptr;
};

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable safetensors file: {}.", path, reason));
}

CheckedFile open_checked(const std::string& path) {
  CheckedFile checked;
  checked.file = std::make_shared<MappedFile>(path);
  const uint64_t file_bytes = checked.file->size_bytes();
  if (file_bytes < kSizeBytes)
    refuse(path, fmt::format("it has {} bytes, expected at least {}", file_bytes, kSizeBytes));
  const char* data = checked.file->data();
  uint64_t header_bytes = 0;
  for (uint64_t i = kSizeBytes; i-- > 0;) header_bytes = header_bytes << 8 | static_cast<unsigned char>(data[i]);
  const uint64_t limit = std::min(file_bytes - kSizeBytes, kMaxHeaderBytes);
  if (header_bytes > limit) {
    refuse(path, fmt::format("its header should have {} bytes, expected at most {} in a file of {}", header_bytes,
                             limit, file_bytes));
  }
  checked.header = parse_safetensors_header(std::string_view(data + kSizeBytes, header_bytes), path);
  checked.buffer = checked.file->data() + kSizeBytes + header_bytes;
  check_safetensors_layout(checked.header, file_bytes - kSizeBytes - header_bytes, path);
  return checked;
}

void check_bool_bytes(const SafetensorsEntry& entry, const char* data, const std::string& path) {
  const uint64_t bytes = entry.end_bytes - entry.begin_bytes;
  const char* wrong = std::find_if(data, data + bytes, [](char byte) { return byte != 0 && byte != 1; });
  if (wrong == data + bytes) return;
  refuse(path, fmt::format("byte {} of the bool tensor {} is {}, expected 0 or 1", wrong - data,
                           quoted_name(entry.name), static_cast<int>(static_cast<unsigned char>(*wrong))));
}

at::Tensor tensor_of(const SafetensorsEntry& entry, char* data, const std::shared_ptr<MappedFile>& file) {
  const uint64_t bytes = entry.end_bytes - entry.begin_bytes;
  const at::TensorOptions options(entry.dtype);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % c10::elementSize(entry.dtype) == 0;
  if (bytes > 0 && aligned) {
    return at::from_blob(
        data, entry.shape, [file](void*) {}, options);
  }
  at::Tensor copy = at::empty(entry.shape, options);
  if (bytes > 0) std::memcpy(copy.data_ptr(), data, bytes);
  return copy;
}

}  // namespace

void save_safetensors(const std::string& path, const TensorMap& tensors, const SafetensorsMetadata& metadata) {
  std::vector<std::pair<std::string, at::Tensor>> ordered;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) throw UsageError(fmt::format("Cannot save the undefined tensor {}.", quoted_name(name)));
    ordered.emplace_back(name, tensor.detach().to(at::kCPU).contiguous());
  }
  // Widest dtypes first, as the reference implementation does: then every tensor is aligned without padding.
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& left, const auto& right) {
    return left.second.element_size() > right.second.element_size();
  });
  SafetensorsHeader header;
  header.metadata = metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : ordered) {
    const uint64_t end = offset + tensor.nbytes();
    header.entries.push_back({name, tensor.scalar_type(), tensor.sizes().vec(), offset, end});
    offset = end;
  }
  const std::string text = format_safetensors_header(header);
  std::array<char, kSizeBytes> size{};
  for (uint64_t i = 0; i < kSizeBytes; ++i) size[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);

  AtomicFile file(path);
  file.write({size.data(), size.size()});
  file.write(text);
  for (const auto& named : ordered) {
    file.write({static_cast<const char*>(named.second.data_ptr()), named.second.nbytes()});
  }
  file.commit();
}

TensorMap load_safetensors(const std::string& path) {
  const CheckedFile checked = open_checked(path);
  TensorMap tensors;
  for (const SafetensorsEntry& entry : checked.header.entries) {
    char* data = checked.buffer + entry.begin_bytes;
    if (entry.dtype == at::kBool) check_bool_bytes(entry, data, path);
    tensors.emplace(entry.name, tensor_of(entry, data, checked.file));
  }
  return tensors;
}

SafetensorsMetadata load_safetensors_metadata(const std::string& path) {
  return open_checked(path).header.metadata;
}

}  // namespace lab
