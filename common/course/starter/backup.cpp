#include "common/course/starter/backup.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/files.h"
#include "common/course/starter/starter_tree.h"

namespace lab {

std::string backup_place(const std::string& root, const std::string& path, const std::string& bytes) {
  const std::string first = fmt::format("{}/{}", kBackupFolder, path);
  std::string place = first;
  for (int number = 2;; ++number) {
    const std::string full = root + "/" + place;
    if (!std::filesystem::exists(std::filesystem::symlink_status(full)) || read_file(full) == bytes) return place;
    place = fmt::format("{}.{}", first, number);
  }
}

std::string keep_backup(const std::string& root, const std::string& path, const std::string& bytes) {
  const std::string place = backup_place(root, path, bytes);
  const std::string full = root + "/" + place;
  make_folder("backup", std::filesystem::path(full).parent_path().string());
  write_file_atomically(full, bytes);
  return place;
}

}  // namespace lab
