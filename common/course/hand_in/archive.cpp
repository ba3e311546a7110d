#include "common/course/hand_in/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "common/base/archive_reader.h"
#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/utf8_names.h"
#include "common/course/hand_in/file_tree_builder.h"

namespace lab {
namespace {

using Kind = ArchiveReader::Kind;

void read_entry(ArchiveReader& archive, FileTreeBuilder& builder) {
  if (archive.kind() == Kind::kFolder) {
    builder.add_folder(archive.path());
    return;
  }
  builder.begin(archive.path(), archive.kind() == Kind::kFile   ? ""
                                : archive.kind() == Kind::kLink ? "it is a link"
                                                                : "it is not a regular file");
  builder.require_size(archive.size().value_or(0));
  std::array<char, 64 * 1024> block;
  while (const std::size_t size = archive.read(block.data(), block.size())) builder.add_bytes(block.data(), size);
  builder.end();
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
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError(fmt::format("{}: expected an archive that is there and readable", path));
  }
  FileTreeBuilder builder(path, limits);
  bool any = false;
  try {
    ArchiveReader archive(path);
    while (archive.next()) {
      any = true;
      read_entry(archive, builder);
    }
  } catch (const ArchiveError& error) {
    throw UsageError(
        fmt::format("{}: {}: {}", path, any ? "is broken" : "is not an archive that can be read", error.what()));
  }
  return builder.take();
}

void write_zip(const std::string& path, const std::map<std::string, std::string>& files) {
  const Utf8Names utf8_names;
  std::string zip;
  const std::unique_ptr<struct archive, FreeWriter> writer(archive_write_new());
  const auto require = [&](la_ssize_t result) {
    if (result >= ARCHIVE_OK) return;
    const char* reason = archive_error_string(writer.get());
    throw UsageError(fmt::format("cannot pack {}: {}", path, reason == nullptr ? "libarchive refuses" : reason));
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
