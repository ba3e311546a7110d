#include "common/base/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include "common/base/text.h"

namespace lab {

ArchiveReader::ArchiveReader(const std::string& path) : reader_(archive_read_new()) {
  constexpr std::size_t kBlockBytes = 64 * 1024;
  // All that the library reads by itself. Not mtree, which names files of this machine to be read, and no filter that
  // starts a program.
  for (const auto support :
       {archive_read_support_format_zip, archive_read_support_format_tar, archive_read_support_format_7zip,
        archive_read_support_format_rar, archive_read_support_format_rar5, archive_read_support_format_cpio,
        archive_read_support_format_cab, archive_read_support_format_lha, archive_read_support_format_xar,
        archive_read_support_format_ar, archive_read_support_format_iso9660, archive_read_support_filter_gzip,
        archive_read_support_filter_bzip2, archive_read_support_filter_xz, archive_read_support_filter_lzma,
        archive_read_support_filter_lzip, archive_read_support_filter_zstd, archive_read_support_filter_lz4,
        archive_read_support_filter_compress})
    support(reader_.get());
  require(archive_read_open_filename(reader_.get(), path.c_str(), kBlockBytes) == ARCHIVE_OK);
}

ArchiveReader::ArchiveReader(const Zip& zip) : reader_(archive_read_new()) {
  archive_read_support_format_zip_seekable(reader_.get());
  require(archive_read_open_memory(reader_.get(), zip.bytes.data(), zip.bytes.size()) == ARCHIVE_OK);
}

void ArchiveReader::Free::operator()(struct archive* reader) const {
  archive_read_free(reader);
}

void ArchiveReader::require(bool well) const {
  if (well) return;
  const char* reason = archive_error_string(reader_.get());
  throw ArchiveError(reason == nullptr ? "it ends early" : one_line(reason));
}

bool ArchiveReader::next() {
  const int result = archive_read_next_header(reader_.get(), &entry_);
  require(result == ARCHIVE_OK || result == ARCHIVE_WARN || result == ARCHIVE_EOF);
  if (result != ARCHIVE_EOF && archive_entry_is_encrypted(entry_) != 0)
    throw ArchiveError("it is encrypted; expected an archive without a password");
  return result != ARCHIVE_EOF;
}

ArchiveReader::Kind ArchiveReader::kind() const {
  if (archive_entry_hardlink(entry_) != nullptr || archive_entry_filetype(entry_) == AE_IFLNK) return Kind::kLink;
  if (archive_entry_filetype(entry_) == AE_IFDIR) return Kind::kFolder;
  return archive_entry_filetype(entry_) == AE_IFREG ? Kind::kFile : Kind::kOther;
}

std::string ArchiveReader::path() const {
  const char* name = archive_entry_pathname_utf8(entry_);
  if (name == nullptr) name = archive_entry_pathname(entry_);
  return name == nullptr ? "\xff" : name;
}

std::optional<std::uint64_t> ArchiveReader::size() const {
  if (archive_entry_size_is_set(entry_) == 0 || archive_entry_size(entry_) < 0) return std::nullopt;
  return static_cast<std::uint64_t>(archive_entry_size(entry_));
}

std::size_t ArchiveReader::read(char* bytes, std::size_t max_bytes) {
  const la_ssize_t size = archive_read_data(reader_.get(), bytes, max_bytes);
  require(size >= 0);
  return static_cast<std::size_t>(size);
}

}  // namespace lab
