#include "common/launch/supervise/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "common/api/errors.h"
#include "common/launch/supervise/rank_environment.h"

namespace lab::launch {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "lab-work-";

/// Whether it can be removed: created by this user, and not locked by a live process.
bool is_abandoned(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  return fd.get() >= 0 && ::fstat(fd.get(), &found) == 0 && found.st_uid == ::geteuid() &&
         ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

void remove_abandoned(const std::string& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().rfind(kPrefix, 0) == 0 && is_abandoned(entry.path()))
      fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

RunDirectory::RunDirectory(const std::string& fallback) {
  const std::string parent = process_variable("TMPDIR").value_or(fallback);
  remove_abandoned(parent);
  const auto refuse = [&](int error) {
    throw UsageError(fmt::format("cannot create a temporary folder in {}: {}; set TMPDIR to a writable folder", parent,
                                 std::strerror(error)));
  };
  // It is renamed only once it is locked: a folder with the final name and without a lock is abandoned.
  std::string unlocked = fmt::format("{}/.{}XXXXXX", parent, kPrefix);
  if (::mkdtemp(unlocked.data()) == nullptr) refuse(errno);
  lock_ = UniqueFd(::open(unlocked.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.get() >= 0) ::flock(lock_.get(), LOCK_EX);
  path_ = fmt::format("{}/{}", parent, unlocked.substr(parent.size() + 2));
  if (std::rename(unlocked.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::rmdir(unlocked.c_str());
    refuse(error);
  }
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace lab::launch
