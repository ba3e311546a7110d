#pragma once

#include <cstdint>
#include <string>

namespace lab {

/// A file's bytes in memory, read when first touched. Writes stay in this process: the file never changes. The file may
/// be replaced or removed meanwhile, but must not be shortened in place.
/// Errors    UsageError: cannot be opened or mapped, or is not a regular file
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const { return data_; }  ///< page-aligned; null if the file is empty
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  char* data_ = nullptr;
  uint64_t size_bytes_ = 0;
};

}  // namespace lab
