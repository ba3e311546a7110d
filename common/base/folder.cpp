#include "common/base/folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/errors.h"

namespace lab {

void make_folder(const std::string& option, const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (!failure && access(path.c_str(), W_OK) == 0) return;
  throw UsageError(fmt::format("{} {}: expected a folder that can be made or written to", option, path));
}

}  // namespace lab
