#include "common/lab/record.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/lab/record_text.h"
#include "common/report/errors.h"
#include "common/report/failure.h"
#include "common/report/write_fully.h"
#include "common/tensor/safetensors.h"

namespace lab {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxRecordHeaderBytes = 4u << 20;  // names, shapes and words: more is no honest record
const char* const kRecordKey = "record";                   // of the blob's metadata

std::string length_of(std::uint64_t number) {
  std::string bytes;
  for (std::uint64_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

/// Reads so many bytes at an offset; fewer where the file ends.
std::string bytes_at(int descriptor, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  std::uint64_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(descriptor, &bytes[filled], size - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::uint64_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

std::uint64_t size_of_file(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0)
    throw UsageError(fmt::format("cannot read records from descriptor {}: {}", descriptor, std::strerror(errno)));
  return static_cast<std::uint64_t>(status.st_size);
}

CaseRecord record_of(const std::string& blob) {
  SafetensorsContent content = from_safetensors(blob, "a record", kMaxRecordHeaderBytes);
  const auto text = content.metadata.find(kRecordKey);
  if (text == content.metadata.end()) throw UsageError("a record without its text");
  std::vector<std::string> undefined;
  CaseRecord record = record_from_text(text->second, undefined);
  record.results = std::move(content.tensors);
  for (const std::string& name : undefined) record.results.emplace(name, at::Tensor());
  return record;
}

}  // namespace

void write_record(int descriptor, const CaseRecord& record) {
  TensorMap defined;
  std::vector<std::string> undefined;
  for (const auto& [name, tensor] : record.results) {
    if (tensor.defined()) {
      defined[name] = tensor;
    } else {
      undefined.push_back(name);
    }
  }
  const std::string blob = to_safetensors(defined, {{kRecordKey, text_of_record(record, undefined)}});
  const int failure = write_fully(descriptor, length_of(blob.size()) + blob);
  if (failure == 0) return;
  throw UsageError(fmt::format("cannot write a record to descriptor {}: {}", descriptor, std::strerror(failure)));
}

RecordsRead read_records(int descriptor, std::uint64_t max_bytes) {
  RecordsRead read;
  const std::uint64_t size = size_of_file(descriptor);
  std::uint64_t offset = 0;
  const auto refuse = [&](const std::string& reason) {
    read.broken = fmt::format("record {}: {}", read.records.size() + 1, reason);
  };
  while (offset < size && read.broken.empty()) {
    const std::string length = bytes_at(descriptor, offset, kLengthBytes);
    std::uint64_t blob_bytes = 0;
    for (std::size_t i = length.size(); i-- > 0;) blob_bytes = blob_bytes << 8 | static_cast<unsigned char>(length[i]);
    const std::uint64_t begin = offset + kLengthBytes;
    if (length.size() < kLengthBytes || begin > size || blob_bytes > size - begin) {
      refuse(fmt::format("it should have {} bytes, of which the file holds {}", blob_bytes,
                         begin > size ? 0 : size - begin));
    } else if (begin > max_bytes || blob_bytes > max_bytes - begin) {
      refuse(fmt::format("it ends beyond the {} bytes that are read", max_bytes));
    } else {
      try {
        read.records.push_back(record_of(bytes_at(descriptor, begin, blob_bytes)));
      } catch (const std::exception& failure) {
        refuse(sentence_of(failure));
      }
      offset = begin + blob_bytes;
    }
  }
  return read;
}

int make_record_file() {
  // Not closed on exec: it is handed on to a program.
  const int descriptor = ::memfd_create("records", 0);
  if (descriptor < 0) throw UsageError(fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
  return descriptor;
}

}  // namespace lab
