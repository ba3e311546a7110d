#include "common/course/hand_in/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/hand_in/file_tree_builder.h"

namespace lab {
namespace {

/// While it lives, names of files are UTF-8 for this thread, whatever the locale of the process is: libarchive
/// translates an archive's names into the locale's, and fails for names beyond ASCII in the locale "C".
class Utf8Names {
 public:
  Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (utf8_ != locale_t{}) before_ = uselocale(utf8_);
  }
  ~Utf8Names() {
    if (utf8_ == locale_t{}) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_ = {};
  locale_t before_ = {};
};

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

struct FreeWriter {
  void operator()(struct archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append_bytes(struct archive*, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

namespace fs = std::filesystem;

class FolderReader {
 public:
  FolderReader(fs::path root, FileTreeBuilder& builder) : root_(std::move(root)), builder_(builder) {}

  void read(const fs::path& folder) {
    std::vector<fs::directory_entry> entries;
    std::error_code failure;
    for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
      entries.push_back(*at);
    }
    if (failure) {
      throw UsageError(fmt::format("{}: expected a folder that can be read: {}", folder.string(), failure.message()));
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) read_entry(entry);
  }

 private:
  void read_entry(const fs::directory_entry& entry) {
    const std::string name = entry.path().lexically_relative(root_).string();
    std::error_code failure;
    const fs::file_type type = entry.symlink_status(failure).type();
    if (type == fs::file_type::directory) {
      if (builder_.add_folder(name)) read(entry.path());
      return;
    }
    // Opened only once it is known to be a regular file: a named pipe would wait for a writer.
    if (type != fs::file_type::regular) {
      builder_.begin(name, type == fs::file_type::symlink ? "it is a link" : "it is not a regular file");
      return builder_.end();
    }
    std::ifstream file(entry.path(), std::ios::binary);
    builder_.begin(name, file ? "" : "it cannot be read");
    std::array<char, 64 * 1024> block;
    while (file && builder_.is_wanted()) {
      file.read(block.data(), block.size());
      builder_.add_bytes(block.data(), static_cast<std::size_t>(file.gcount()));
    }
    builder_.end();
  }

  const fs::path root_;
  FileTreeBuilder& builder_;
};

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

void write_zip(const std::string& path, const std::map<std::string, std::string>& files) {
  const Utf8Names utf8_names;
  std::string zip;
  const std::unique_ptr<struct archive, FreeWriter> writer(archive_write_new());
  const auto require = [&](la_ssize_t result) {
    if (result >= ARCHIVE_OK) return;
    const char* words = archive_error_string(writer.get());
    throw UsageError(fmt::format("cannot pack {}: {}", path, words == nullptr ? "libarchive refuses" : words));
  };
  require(archive_write_set_format_zip(writer.get()));
  require(archive_write_set_options(writer.get(), "hdrcharset=UTF-8"));
  require(archive_write_set_bytes_in_last_block(writer.get(), 1));  // no padding after the end
  require(archive_write_open(writer.get(), &zip, nullptr, append_bytes, nullptr));
  for (const auto& [name, bytes] : files) {
    const std::unique_ptr<struct archive_entry, FreeEntry> entry(archive_entry_new());
    // No time and no owner: the same files always give the same bytes.
    archive_entry_set_pathname_utf8(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    require(archive_write_header(writer.get(), entry.get()));
    require(archive_write_data(writer.get(), bytes.data(), bytes.size()));
  }
  require(archive_write_close(writer.get()));
  write_file_atomically(path, zip);
}

FileTree read_folder(const std::string& path, const ArchiveLimits& limits) {
  FileTreeBuilder builder(path, limits);
  FolderReader(path, builder).read(path);
  return builder.take();
}

}  // namespace lab
