#include "common/tensor/torch_file_records.h"

#include <fmt/format.h>

#include <cstdint>

#include "common/report/errors.h"
#include "common/tensor/crc32.h"

namespace lab {
namespace {

// Records with a header each, then the directory, which repeats the headers, then where the directory is.
constexpr std::string_view kRecordStart = "PK\3\4";
constexpr std::string_view kEntryStart = "PK\1\2";
constexpr std::string_view kEndStart = "PK\5\6";
constexpr uint64_t kRecordBytes = 30;  // up to its name
constexpr uint64_t kEntryBytes = 46;
constexpr uint64_t kEndBytes = 22;  // torch.save leaves no comment behind

/// A file's bytes; each reading is checked against its end.
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

/// The record that the directory's entry at this place tells of.
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

}  // namespace

void refuse_torch_file(const std::string& path, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable file of torch.save: {}.", path, reason));
}

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

}  // namespace lab
