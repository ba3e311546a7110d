#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lab {

struct ArchiveLimits {
  std::size_t max_entries = 10000;  ///< a student may hand in the whole tree, which has some 2,000 files
  std::uint64_t max_file_bytes = 32u << 20;
  std::uint64_t max_total_bytes = 128u << 20;  ///< unpacked
};

/// What was in an archive or folder: regular files by their path ("a9_collectives/student/ring.cpp"), and a note for
/// everything that was left out (a link, a device, an absolute path, "..", a name that is not printable UTF-8).
struct FileTree {
  std::map<std::string, std::string> files;  ///< path -> bytes
  std::vector<std::string> notes;
};

/// Reads a zip, tar, 7z ... into memory; nothing is written to disk. Hidden files, __MACOSX and build folders are
/// silently skipped, up to ten times the limits. Of two entries with the same name the first is taken.
/// Errors    UsageError: it cannot be read, is not an archive, is broken, or is beyond a limit (a zip bomb is refused
///           before it is unpacked further)
FileTree read_archive(const std::string& path, const ArchiveLimits& limits = {});

/// The same for a folder on disk; links are not followed.
FileTree read_folder(const std::string& path, const ArchiveLimits& limits = {});

/// Writes a zip, complete or not at all; the same files give the same bytes.
/// Errors    UsageError: cannot be written
void write_zip(const std::string& path, const std::map<std::string, std::string>& files);

}  // namespace lab
