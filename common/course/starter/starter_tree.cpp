#include "common/course/starter/starter_tree.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/api/errors.h"
#include "common/base/checksum.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

constexpr char kListHeading[] = "# The files of this starter, each with its size and checksum. An update reads them.";

bool is_executable(const std::string& path) {
  return (fs::status(path).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

}  // namespace

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

std::string starter_list_path() {
  return std::string(kPristineFolder) + "/files.txt";
}

bool is_student_file(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash != std::string::npos && path[0] != '.' && path.compare(slash, 9, "/student/") == 0;
}

std::string compute_fingerprint(const std::string& bytes) {
  return fmt::format("{}-{:016x}", bytes.size(), compute_checksum(bytes));
}

std::string starter_list(const StarterTree& tree) {
  std::string text = std::string(kListHeading) + "\n";
  for (const auto& [path, file] : tree) text += compute_fingerprint(file.bytes) + " " + path + "\n";
  return text;
}

std::map<std::string, std::string> read_starter_list(const std::string& folder) {
  const std::string path = folder + "/" + starter_list_path();
  std::map<std::string, std::string> fingerprints;
  if (!fs::exists(path)) return fingerprints;
  std::size_t number = 0;
  for (const std::string& whole_line : list_lines(read_file(path))) {
    const std::string line(without_line_break(whole_line));
    ++number;
    if (line == kListHeading) continue;
    const std::size_t blank = line.find(' ');
    // The files that a list names are replaced or removed: none may be outside the folder.
    if (blank == std::string::npos || !is_inner_path(line.substr(blank + 1))) {
      throw UsageError(
          fmt::format("{}, line {}: expected a checksum and a path inside the starter, got '{}'", path, number, line));
    }
    fingerprints[line.substr(blank + 1)] = line.substr(0, blank);
  }
  return fingerprints;
}

StarterTree read_starter(const std::string& folder) {
  const std::map<std::string, std::string> fingerprints = read_starter_list(folder);
  if (fingerprints.empty()) {
    throw UsageError(fmt::format("'{}': expected a starter, a folder with {}", folder, starter_list_path()));
  }
  StarterTree tree;
  for (const auto& [path, fingerprint] : fingerprints) {
    const std::string full = folder + "/" + path;
    StarterFile file{read_file(full), is_executable(full)};
    if (compute_fingerprint(file.bytes) != fingerprint) {
      throw UsageError(
          fmt::format("'{}' is not the file that was handed out; expected an untouched starter: unpack the "
                      "new version once more, next to your own",
                      full));
    }
    tree[path] = std::move(file);
  }
  return tree;
}

}  // namespace lab
