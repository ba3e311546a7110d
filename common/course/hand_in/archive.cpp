#include "common/course/hand_in/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "common/api/errors.h"
#include "common/base/archive_reader.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/course/hand_in/entry_path.h"

namespace lab {
namespace {

/// Collects what is taken of an archive or a folder, entry by entry, and enforces the limits.
/// Errors    UsageError: beyond a limit; thrown at the entry, or the byte, that is too much
class FileTreeBuilder {
 public:
  /// `source` is the archive or folder, for the messages.
  FileTreeBuilder(const std::string& source, const ArchiveLimits& limits) : source_(source), limits_(limits) {}

  /// Begins an entry; `why_not` says why it cannot be taken ("it is a link"), empty for a regular file.
  void begin(const std::string& raw_path, const std::string& why_not);
  /// Counts a folder. False: everything below it is skipped.
  bool add_folder(const std::string& raw_path);
  /// More bytes of the entry, whether it is taken or not.
  void add_bytes(const char* bytes, std::size_t size);
  /// Takes the entry, if it is wanted.
  void end();

  /// True between begin() and end() of an entry that is taken.
  bool is_wanted() const { return !path_.empty(); }
  /// Refuses an entry whose declared size is too large.
  void require_size(std::uint64_t bytes) const;
  FileTree take() { return std::move(tree_); }

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  void leave_out(const std::string& raw_path, const std::string& why);
  void count_entry(bool taken);

  const std::string source_;
  const ArchiveLimits limits_;
  FileTree tree_;
  std::string path_, bytes_;  ///< of the current entry; path_ is empty: it is not taken
  std::size_t num_entries_ = 0, num_taken_ = 0;
  std::uint64_t num_bytes_ = 0, num_bytes_taken_ = 0;
};

// What is silently skipped may be more than what is taken: a build folder, a history.
constexpr std::uint64_t kPassedOver = 10;

/// True if one of the path's parent folders is a file of the tree.
bool is_below_a_file(const FileTree& tree, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (tree.files.count(path.substr(0, slash)) != 0) return true;
  }
  return false;
}

/// True if the tree has files in a folder of this path.
bool is_a_folder(const FileTree& tree, const std::string& path) {
  const auto next = tree.files.lower_bound(path + "/");
  return next != tree.files.end() && next->first.compare(0, path.size() + 1, path + "/") == 0;
}

}  // namespace

void FileTreeBuilder::begin(const std::string& raw_path, const std::string& why_not) {
  const EntryPath entry = clean_entry_path(raw_path);
  path_.clear();
  bytes_.clear();
  const bool passed_over = entry.path.empty() && entry.why_not.empty();
  count_entry(!passed_over);
  if (passed_over) return;
  if (!entry.why_not.empty()) return leave_out(raw_path, entry.why_not);
  if (!why_not.empty()) return leave_out(raw_path, why_not);
  if (tree_.files.count(entry.path) != 0) return leave_out(raw_path, "another entry has the same name");
  if (is_below_a_file(tree_, entry.path) || is_a_folder(tree_, entry.path)) {
    return leave_out(raw_path, "it is a file and a folder at once");
  }
  path_ = entry.path;
}

bool FileTreeBuilder::add_folder(const std::string& raw_path) {
  const EntryPath entry = clean_entry_path(raw_path);
  count_entry(!entry.path.empty());
  if (!entry.why_not.empty()) leave_out(raw_path, entry.why_not);
  return !entry.path.empty();
}

void FileTreeBuilder::add_bytes(const char* bytes, std::size_t size) {
  num_bytes_ += size;
  if (num_bytes_ > kPassedOver * limits_.max_total_bytes) {
    refuse(fmt::format("unpacked, it has more than {}", describe_bytes(kPassedOver * limits_.max_total_bytes)));
  }
  if (!is_wanted()) return;
  require_size(bytes_.size() + size);
  num_bytes_taken_ += size;
  if (num_bytes_taken_ > limits_.max_total_bytes) {
    refuse(fmt::format("unpacked, it has more than {}", describe_bytes(limits_.max_total_bytes)));
  }
  bytes_.append(bytes, size);
}

void FileTreeBuilder::end() {
  if (is_wanted()) tree_.files.emplace(std::move(path_), std::move(bytes_));
  path_.clear();
}

void FileTreeBuilder::require_size(std::uint64_t bytes) const {
  if (is_wanted() && bytes > limits_.max_file_bytes) {
    refuse(fmt::format("{} is larger than {}", path_, describe_bytes(limits_.max_file_bytes)));
  }
}

void FileTreeBuilder::leave_out(const std::string& raw_path, const std::string& why) {
  tree_.notes.push_back(fmt::format("'{}' was left out: {}", printable_name(raw_path), why));
}

void FileTreeBuilder::count_entry(bool taken) {
  ++num_entries_;
  if (taken) ++num_taken_;
  if (num_taken_ > limits_.max_entries) refuse(fmt::format("it has more than {} entries", limits_.max_entries));
  if (num_entries_ > kPassedOver * limits_.max_entries) {
    refuse(fmt::format("it has more than {} entries, hidden ones and build folders included",
                       kPassedOver * limits_.max_entries));
  }
}

void FileTreeBuilder::refuse(const std::string& what) const {
  throw UsageError(
      fmt::format("{}: {}, which is too much for a submission; hint: hand in what lab submit packs", source_, what));
}

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
