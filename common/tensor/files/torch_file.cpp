#include "common/tensor/files/torch_file.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/tensor/describe.h"
#include "common/tensor/files/crc32.h"
#include "common/tensor/files/mapped_file.h"

namespace lab {
namespace {

struct TorchFileRecord {
  std::string name;
  std::string_view content;
};

// Records with a header each, then the directory, which repeats the headers, then where the directory is.
constexpr std::string_view kRecordStart = "PK\3\4";
constexpr std::string_view kEntryStart = "PK\1\2";
constexpr std::string_view kEndStart = "PK\5\6";
constexpr uint64_t kRecordBytes = 30;  // up to its name
constexpr uint64_t kEntryBytes = 46;
constexpr uint64_t kEndBytes = 22;  // torch.save writes no comment after it

/// Throws the UsageError for a file that torch.save did not write.
void refuse_torch_file(const std::string& path, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable file of torch.save: {}.", path, reason));
}

/// A file's bytes; each read is checked against its end.
class ZipBytes {
 public:
  ZipBytes(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::string_view part(uint64_t begin, uint64_t num_bytes) const {
    if (begin > bytes_.size() || num_bytes > bytes_.size() - begin)
      refuse_torch_file(path_, fmt::format("{} bytes at {} lie beyond its {}", num_bytes, begin, bytes_.size()));
    return bytes_.substr(begin, num_bytes);
  }
  uint64_t number(uint64_t begin, uint64_t num_bytes) const {
    const std::string_view digits = part(begin, num_bytes);
    uint64_t value = 0;
    for (uint64_t i = num_bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[i]);
    return value;
  }
  void expect(uint64_t begin, std::string_view start, const char* what) const {
    if (part(begin, start.size()) != start)
      refuse_torch_file(path_, fmt::format("at byte {} there is no {}", begin, what));
  }

 private:
  std::string_view bytes_;
  const std::string& path_;
};

/// The record that the directory's entry at this position describes.
TorchFileRecord checked_record(const ZipBytes& zip, uint64_t entry, const std::string& path) {
  zip.expect(entry, kEntryStart, "entry of its directory");
  const uint64_t method = zip.number(entry + 10, 2);
  const uint64_t checksum = zip.number(entry + 16, 4);
  const uint64_t stored_bytes = zip.number(entry + 20, 4);
  const uint64_t content_bytes = zip.number(entry + 24, 4);
  const uint64_t record = zip.number(entry + 42, 4);
  TorchFileRecord found{std::string(zip.part(entry + kEntryBytes, zip.number(entry + 28, 2))), {}};
  if (method != 0 || stored_bytes != content_bytes) refuse_torch_file(path, "a record of it is compressed");
  zip.expect(record, kRecordStart, "record");
  found.content =
      zip.part(record + kRecordBytes + zip.number(record + 26, 2) + zip.number(record + 28, 2), content_bytes);
  if (crc32(found.content) != checksum)
    refuse_torch_file(path, fmt::format("it is damaged: the checksum of the record at byte {} is wrong", record));
  return found;
}

/// The records of a file of torch.save, an uncompressed zip archive, after checking that they are intact.
/// LibTorch itself reads damaged records without an error.
/// Aliasing  the contents are views into `bytes`
/// Errors    UsageError: not such an archive; truncated; a wrong checksum. The message contains `path`
/// Source    https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
std::vector<TorchFileRecord> checked_torch_file_records(std::string_view bytes, const std::string& path) {
  if (bytes.empty()) refuse_torch_file(path, "it is empty");
  if (bytes.substr(0, kRecordStart.size()) != kRecordStart)
    refuse_torch_file(path, "it is not the zip archive that torch.save writes since version 1.6");
  const uint64_t end = bytes.size() < kEndBytes ? 0 : bytes.size() - kEndBytes;
  const ZipBytes zip(bytes, path);
  if (bytes.substr(end, kEndStart.size()) != kEndStart)
    refuse_torch_file(path, fmt::format("its end is missing after {} bytes; hint: copy it again", bytes.size()));
  const uint64_t num_records = zip.number(end + 10, 2);
  uint64_t entry = zip.number(end + 16, 4);
  std::vector<TorchFileRecord> records;
  for (uint64_t i = 0; i < num_records; ++i) {
    records.push_back(checked_record(zip, entry, path));
    entry += kEntryBytes + zip.number(entry + 28, 2) + zip.number(entry + 30, 2) + zip.number(entry + 32, 2);
  }
  return records;
}

constexpr uint64_t kMaxTensorBytes = 0xFFF0'0000;  // above 4 GiB a zip archive has another format

/// The size of the one storage among the records: LibTorch would believe whatever size the pickle claims.
uint64_t storage_bytes(const std::vector<TorchFileRecord>& records, const std::string& path) {
  uint64_t num_storages = 0, bytes = 0;
  for (const TorchFileRecord& record : records) {
    if (record.name.find("/data/") == std::string::npos) continue;
    ++num_storages;
    bytes = record.content.size();
  }
  if (num_storages != 1)
    refuse_torch_file(path, fmt::format("it holds {} storages, expected one tensor's", num_storages));
  return bytes;
}

c10::IValue unpickled(const MappedFile& file, const std::string& path) {
  const auto refuse = [&](const std::string& words) { refuse_torch_file(path, "LibTorch says: " + one_line(words)); };
  try {
    return torch::jit::pickle_load({file.data(), file.data() + file.size_bytes()});
  } catch (const c10::Error& error) {
    refuse(error.what_without_backtrace());
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return {};
}

/// True if every element lies within the storage, and there are no more than it holds: LibTorch checks neither, and
/// would read beyond the file, or allocate whatever the pickle claims.
bool fits_storage(const at::Tensor& tensor) {
  const auto num_stored = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  if (tensor.numel() > num_stored || tensor.storage_offset() < 0) return false;
  if (tensor.numel() == 0) return true;
  int64_t last = tensor.storage_offset();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const int64_t steps = tensor.size(dim) - 1, stride = tensor.stride(dim);
    if (stride < 0 || (steps > 0 && stride > (num_stored - 1) / steps)) return false;
    last += steps * stride;
    if (last >= num_stored) return false;
  }
  return last < num_stored;
}

}  // namespace

void save_torch_tensor(const std::string& path, const at::Tensor& tensor) {
  if (!tensor.defined()) throw ContractError(fmt::format("Cannot save an undefined tensor into '{}'.", path));
  if (tensor.nbytes() > kMaxTensorBytes)
    throw UsageError(fmt::format("cannot write '{}': {} bytes, expected less than 4 GiB", path, tensor.nbytes()));
  at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  // A tensor is saved with its whole storage, including what lies outside the tensor.
  if (plain.storage().nbytes() != plain.nbytes()) plain = plain.clone();
  const std::vector<char> bytes = torch::jit::pickle_save(plain);
  write_file_atomically(path, {bytes.data(), bytes.size()});
}

at::Tensor load_torch_tensor(const std::string& path) {
  const MappedFile file(path);
  const uint64_t bytes = storage_bytes(checked_torch_file_records({file.data(), file.size_bytes()}, path), path);
  const c10::IValue value = unpickled(file, path);
  if (!value.isTensor()) refuse_torch_file(path, fmt::format("it holds a {}, expected one tensor", value.tagKind()));
  const at::Tensor tensor = value.toTensor();
  if (!tensor.has_storage() || tensor.storage().nbytes() != bytes)
    refuse_torch_file(path, fmt::format("its tensor is {}, but {} bytes are stored", describe(tensor), bytes));
  if (!fits_storage(tensor))
    refuse_torch_file(path,
                      fmt::format("its tensor is {}, which does not lie within the {} bytes that are stored; hint: "
                                  "save tensor.contiguous()",
                                  describe(tensor), bytes));
  return tensor.detach();
}

}  // namespace lab
