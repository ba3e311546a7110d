#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "common/base/errors.h"
#include "common/course/hand_in/archive.h"
#include "common/course/hand_in/file_tree_builder.h"

namespace lab {
namespace {

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

FileTree read_folder(const std::string& path, const ArchiveLimits& limits) {
  FileTreeBuilder builder(path, limits);
  FolderReader(path, builder).read(path);
  return builder.take();
}

}  // namespace lab
