#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/course/hand_in/archive.h"
#include "common/course/hand_in/file_tree_builder.h"
#include "common/course/utf8_names.h"

namespace lab {
namespace {

struct FreeReader {
  void operator()(struct archive* reader) const { archive_read_free(reader); }
};
using ArchiveReader = std::unique_ptr<struct archive, FreeReader>;

constexpr std::size_t kBlockBytes = 64 * 1024;

[[noreturn]] void refuse_archive(const std::string& path, struct archive* reader, const char* what) {
  const char* words = archive_error_string(reader);
  throw UsageError(fmt::format("{}: {}: {}", path, what, words == nullptr ? "it ends early" : one_line(words)));
}

/// Zip and tar, the latter also with gzip. No other filter: each is code that handles untrusted data.
ArchiveReader open_archive(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError(fmt::format("{}: expected an archive (.zip, .tar, .tar.gz) that is there and readable", path));
  }
  ArchiveReader reader(archive_read_new());
  archive_read_support_format_zip(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    refuse_archive(path, reader.get(), "is not a zip or tar archive");
  }
  return reader;
}

/// The entry's name in UTF-8, or else its bytes as they are.
std::string raw_path_of(struct archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  return name == nullptr ? "\xff" : name;
}

std::string why_no_file(struct archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) == AE_IFLNK) return "it is a link";
  if (archive_entry_filetype(entry) != AE_IFREG) return "it is not a regular file";
  return "";
}

void read_contents(struct archive* reader, const std::string& path, FileTreeBuilder& builder) {
  std::array<char, kBlockBytes> block;
  while (true) {
    const la_ssize_t size = archive_read_data(reader, block.data(), block.size());
    if (size < 0) refuse_archive(path, reader, "is broken");
    if (size == 0) return;
    builder.add_bytes(block.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

FileTree read_archive(const std::string& path, const ArchiveLimits& limits) {
  const Utf8Names utf8_names;
  const ArchiveReader reader = open_archive(path);
  FileTreeBuilder builder(path, limits);
  bool any = false;
  while (true) {
    struct archive_entry* entry = nullptr;
    const int result = archive_read_next_header(reader.get(), &entry);
    if (result == ARCHIVE_EOF) break;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
      refuse_archive(path, reader.get(), any ? "is broken" : "is not a zip or tar archive");
    }
    any = true;
    if (archive_entry_filetype(entry) == AE_IFDIR) {
      builder.add_folder(raw_path_of(entry));
      continue;
    }
    builder.begin(raw_path_of(entry), why_no_file(entry));
    if (archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) > 0) {
      builder.require_size(static_cast<std::uint64_t>(archive_entry_size(entry)));
    }
    read_contents(reader.get(), path, builder);
    builder.end();
  }
  return builder.take();
}

}  // namespace lab
