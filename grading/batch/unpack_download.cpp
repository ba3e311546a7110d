#include "grading/batch/unpack_download.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>

#include "common/base/archive_reader.h"
#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/course/hand_in/entry_path.h"

namespace lab::grading {
namespace {

constexpr std::uint64_t kMaxBytes = 16ull << 30;
constexpr int kMaxEntries = 200'000;

}  // namespace

std::vector<std::string> unpack_download(const std::string& path, const std::string& folder) {
  std::vector<std::string> notes;
  std::uint64_t num_bytes = 0;
  int num_entries = 0;
  std::array<char, 64 * 1024> block;
  try {
    ArchiveReader archive(path);
    while (archive.next()) {
      if (++num_entries > kMaxEntries)
        throw UsageError(fmt::format("{}: expected at most {} entries, got more", path, kMaxEntries));
      if (archive.kind() == ArchiveReader::Kind::kFolder) continue;
      const EntryPath entry = clean_entry_path(archive.path());
      const bool is_file = archive.kind() == ArchiveReader::Kind::kFile;
      if (entry.path.empty() || !is_file) {
        if (!is_file || !entry.why_not.empty())
          notes.push_back(fmt::format("{}: {}: left out", printable_name(archive.path()),
                                      is_file ? entry.why_not : "it is not a regular file"));
        continue;
      }
      const std::filesystem::path target = std::filesystem::path(folder) / entry.path;
      if (std::filesystem::exists(target)) {
        notes.push_back(fmt::format("{}: another entry has the same name: left out", printable_name(archive.path())));
        continue;
      }
      make_folder(path, target.parent_path().string());
      AtomicFile file(target.string());
      while (const std::size_t size = archive.read(block.data(), block.size())) {
        num_bytes += size;
        if (num_bytes > kMaxBytes)
          throw UsageError(fmt::format("{}: expected at most {} GiB, got more", path, kMaxBytes >> 30));
        file.write({block.data(), size});
      }
      file.commit();
    }
  } catch (const ArchiveError& error) {
    throw UsageError(fmt::format("{}: expected an archive of submissions: {}", path, error.what()));
  }
  return notes;
}

}  // namespace lab::grading
