#include "common/base/read_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/base/errors.h"

namespace lab {

std::string read_file(const std::string& path) {
  // A folder opens, and fails only when it is read.
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw UsageError(fmt::format("{}: cannot be read: a folder", path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno == 0 ? EIO : errno)));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace lab
