#include "common/tensor/files/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/files.h"
#include "common/tensor/files/mapped_file.h"
#include "common/tensor/files/safetensors_header.h"

namespace lab {
namespace {

constexpr size_t kMaxDims = 64;  // what LibTorch's element-wise operations can handle

template <typename... Arguments>
[[noreturn]] void refuse(const std::string& path, const SafetensorsEntry& entry, fmt::format_string<Arguments...> text,
                         Arguments&&... arguments) {
  throw UsageError(fmt::format("'{}' is not a usable safetensors file: tensor {} {}.", path, quoted_name(entry.name),
                               fmt::format(text, std::forward<Arguments>(arguments)...)));
}

uint64_t expected_bytes(const SafetensorsEntry& entry, const std::string& path) {
  if (entry.shape.size() > kMaxDims) {
    refuse(path, entry, "has {} dimensions, expected at most {}", entry.shape.size(), kMaxDims);
  }
  // Sizes of 0 count as 1 at first: LibTorch computes strides that way, and those must not overflow either.
  const auto limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t bytes = c10::elementSize(entry.dtype);
  bool empty = false;
  for (const int64_t size : entry.shape) {
    empty = empty || size == 0;
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(size, 1));
    if (bytes > limit / factor) refuse(path, entry, "has shape {}: too large to address", shape_text(entry.shape));
    bytes *= factor;
  }
  return empty ? 0 : bytes;
}

void check_entry(const SafetensorsEntry& entry, uint64_t buffer_bytes, const std::string& path) {
  if (entry.begin_bytes > entry.end_bytes || entry.end_bytes > buffer_bytes) {
    refuse(path, entry, "lies at bytes {} to {}, expected within 0 to {}", entry.begin_bytes, entry.end_bytes,
           buffer_bytes);
  }
  const uint64_t expected = expected_bytes(entry, path);
  const uint64_t got = entry.end_bytes - entry.begin_bytes;
  if (got == expected) return;
  refuse(path, entry, "is {} {}: expected {} bytes, got {}", dtype_name(entry.dtype), shape_text(entry.shape), expected,
         got);
}

/// Checks that the header's tensors fill the `buffer_bytes` after it exactly: each as long as its dtype and shape say,
/// none beyond the end, no overlap and no hole.
/// Errors    UsageError: which tensor, expected and got; `path` names the file in the message
void check_safetensors_layout(const SafetensorsHeader& header, uint64_t buffer_bytes, const std::string& path) {
  std::vector<const SafetensorsEntry*> in_order;
  for (const SafetensorsEntry& entry : header.entries) {
    check_entry(entry, buffer_bytes, path);
    in_order.push_back(&entry);
  }
  std::sort(in_order.begin(), in_order.end(), [](const SafetensorsEntry* left, const SafetensorsEntry* right) {
    return std::tie(left->begin_bytes, left->end_bytes) < std::tie(right->begin_bytes, right->end_bytes);
  });
  uint64_t covered_bytes = 0;
  for (const SafetensorsEntry* entry : in_order) {
    if (entry->begin_bytes != covered_bytes) {
      refuse(path, *entry, "begins at byte {}, expected {}: {}", entry->begin_bytes, covered_bytes,
             entry->begin_bytes < covered_bytes ? "it overlaps another tensor" : "there is a hole before it");
    }
    covered_bytes = entry->end_bytes;
  }
  if (covered_bytes == buffer_bytes) return;
  throw UsageError(fmt::format("'{}' is not a usable safetensors file: its tensors end at byte {}, expected {}.", path,
                               covered_bytes, buffer_bytes));
}

// A file is 8 bytes with the header's size (little-endian), the header (JSON), the buffer (all tensors, little-endian).
constexpr uint64_t kSizeBytes = 8;

struct CheckedBytes {
  SafetensorsHeader header;
  std::uint64_t buffer_begin = 0;  ///< from the first byte
};

struct CheckedFile {
  std::shared_ptr<MappedFile> file;
  CheckedBytes bytes;
};

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable safetensors file: {}.", path, reason));
}

CheckedBytes checked(std::string_view bytes, const std::string& path, uint64_t max_header_bytes) {
  if (bytes.size() < kSizeBytes)
    refuse(path, fmt::format("it has {} bytes, expected at least {}", bytes.size(), kSizeBytes));
  uint64_t header_bytes = 0;
  for (uint64_t i = kSizeBytes; i-- > 0;) header_bytes = header_bytes << 8 | static_cast<unsigned char>(bytes[i]);
  const uint64_t limit = std::min<uint64_t>(bytes.size() - kSizeBytes, max_header_bytes);
  if (header_bytes > limit) {
    refuse(path, fmt::format("its header should have {} bytes, expected at most {} in a file of {}", header_bytes,
                             limit, bytes.size()));
  }
  CheckedBytes result;
  result.header = parse_safetensors_header(bytes.substr(kSizeBytes, header_bytes), path);
  result.buffer_begin = kSizeBytes + header_bytes;
  check_safetensors_layout(result.header, bytes.size() - result.buffer_begin, path);
  return result;
}

CheckedFile open_checked(const std::string& path) {
  CheckedFile opened;
  opened.file = std::make_shared<MappedFile>(path);
  opened.bytes = checked({opened.file->data(), opened.file->size_bytes()}, path, kMaxSafetensorsHeaderBytes);
  return opened;
}

void check_bool_bytes(const SafetensorsEntry& entry, const char* data, const std::string& path) {
  const uint64_t bytes = entry.end_bytes - entry.begin_bytes;
  const char* wrong = std::find_if(data, data + bytes, [](char byte) { return byte != 0 && byte != 1; });
  if (wrong == data + bytes) return;
  refuse(path, fmt::format("byte {} of the bool tensor {} is {}, expected 0 or 1", wrong - data,
                           quoted_name(entry.name), static_cast<int>(static_cast<unsigned char>(*wrong))));
}

at::Tensor copied(const SafetensorsEntry& entry, const char* data) {
  at::Tensor copy = at::empty(entry.shape, at::TensorOptions(entry.dtype));
  if (copy.nbytes() > 0) std::memcpy(copy.data_ptr(), data, copy.nbytes());
  return copy;
}

at::Tensor mapped(const SafetensorsEntry& entry, char* data, const std::shared_ptr<MappedFile>& file) {
  const bool aligned = reinterpret_cast<uintptr_t>(data) % c10::elementSize(entry.dtype) == 0;
  if (entry.begin_bytes == entry.end_bytes || !aligned) return copied(entry, data);
  return at::from_blob(
      data, entry.shape, [file](void*) {}, at::TensorOptions(entry.dtype));
}

/// Calls write with the pieces of the file, in order. Everything is checked before the first call.
void write_pieces(const TensorMap& tensors, const SafetensorsMetadata& metadata,
                  const std::function<void(std::string_view)>& write) {
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

  write({size.data(), size.size()});
  write(text);
  for (const auto& named : ordered) {
    write({static_cast<const char*>(named.second.data_ptr()), named.second.nbytes()});
  }
}

}  // namespace

void save_safetensors(const std::string& path, const TensorMap& tensors, const SafetensorsMetadata& metadata) {
  std::optional<AtomicFile> file;
  write_pieces(tensors, metadata, [&](std::string_view piece) {
    if (!file) file.emplace(path);
    file->write(piece);
  });
  file->commit();
}

std::string to_safetensors(const TensorMap& tensors, const SafetensorsMetadata& metadata) {
  constexpr std::size_t kUsualHeaderBytes = 4096;
  std::size_t expected = kUsualHeaderBytes;
  for (const auto& [name, tensor] : tensors) expected += tensor.defined() ? tensor.nbytes() : 0;
  std::string bytes;
  bytes.reserve(expected);
  write_pieces(tensors, metadata, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

TensorMap load_safetensors(const std::string& path) {
  const CheckedFile opened = open_checked(path);
  TensorMap tensors;
  for (const SafetensorsEntry& entry : opened.bytes.header.entries) {
    char* data = opened.file->data() + opened.bytes.buffer_begin + entry.begin_bytes;
    if (entry.dtype == at::kBool) check_bool_bytes(entry, data, path);
    tensors.emplace(entry.name, mapped(entry, data, opened.file));
  }
  return tensors;
}

SafetensorsMetadata load_safetensors_metadata(const std::string& path) {
  return open_checked(path).bytes.header.metadata;
}

SafetensorsContent from_safetensors(std::string_view bytes, const std::string& name, std::uint64_t max_header_bytes) {
  const CheckedBytes good = checked(bytes, name, max_header_bytes);
  SafetensorsContent content;
  content.metadata = good.header.metadata;
  for (const SafetensorsEntry& entry : good.header.entries) {
    const char* data = bytes.data() + good.buffer_begin + entry.begin_bytes;
    if (entry.dtype == at::kBool) check_bool_bytes(entry, data, name);
    content.tensors.emplace(entry.name, copied(entry, data));
  }
  return content;
}

}  // namespace lab
