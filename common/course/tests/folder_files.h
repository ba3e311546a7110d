#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/testing/temporary_folder.h"

// All regular files below a folder, by their path in it.
namespace lab::testing {

inline std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] = read_bytes(entry.path().string());
  }
  return files;
}

/// When each was last written.
inline std::map<std::string, std::filesystem::file_time_type> times_below(const std::string& folder) {
  std::map<std::string, std::filesystem::file_time_type> times;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) times[entry.path().lexically_relative(folder).string()] = entry.last_write_time();
  }
  return times;
}

}  // namespace lab::testing
