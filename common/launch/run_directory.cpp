#include "common/launch/run_directory.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/launch/rank_environment.h"
#include "common/report/errors.h"

namespace lab {

RunDirectory::RunDirectory(const std::string& fallback)
    : path_(process_variable("TMPDIR").value_or(fallback) + "/lab-run-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw UsageError(fmt::format("cannot make a temporary folder {}: {}; set TMPDIR to a writable folder", path_,
                                 std::strerror(errno)));
  }
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lab
