#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/course/hand_in/archive.h"

namespace lab {

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

}  // namespace lab
