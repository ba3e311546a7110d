#pragma once

#include <cstdint>
#include <string>

struct archive;  // libarchive's

namespace lab::testing {

/// Makes archives that a well-behaved program would not make, as in a hostile submission.
class ArchiveBuilder {
 public:
  enum class Format { kZip, kEncryptedZip, kTar, kTarGz, kTarBz2, kTarXz, kTarZst, k7z, kCpio };
  explicit ArchiveBuilder(const std::string& path, Format format = Format::kZip);
  ~ArchiveBuilder();
  ArchiveBuilder(const ArchiveBuilder&) = delete;
  ArchiveBuilder& operator=(const ArchiveBuilder&) = delete;

  ArchiveBuilder& file(const std::string& name, const std::string& bytes);
  ArchiveBuilder& zeros(const std::string& name, std::uint64_t size);
  ArchiveBuilder& symlink(const std::string& name, const std::string& target);
  ArchiveBuilder& hardlink(const std::string& name, const std::string& target);
  ArchiveBuilder& fifo(const std::string& name);
  ArchiveBuilder& device(const std::string& name);  ///< /dev/zero
  ArchiveBuilder& folder(const std::string& name);

 private:
  struct archive* writer_;
};

}  // namespace lab::testing
