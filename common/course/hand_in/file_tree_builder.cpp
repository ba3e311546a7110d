#include "common/course/hand_in/file_tree_builder.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/base/numbers.h"
#include "common/course/hand_in/entry_path.h"

namespace lab {
namespace {

// What is silently skipped may be more than what is taken: a build folder, a history.
constexpr std::uint64_t kPassedOver = 10;

/// True if one of the path's parent folders is a file of the tree.
bool is_below_a_file(const FileTree& tree, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (tree.files.count(path.substr(0, slash)) != 0) return true;
  }
  return false;
}

/// True if the tree has files in a folder of this path.
bool is_a_folder(const FileTree& tree, const std::string& path) {
  const auto next = tree.files.lower_bound(path + "/");
  return next != tree.files.end() && next->first.compare(0, path.size() + 1, path + "/") == 0;
}

}  // namespace

void FileTreeBuilder::begin(const std::string& raw_path, const std::string& why_not) {
  const EntryPath entry = clean_entry_path(raw_path);
  path_.clear();
  bytes_.clear();
  const bool passed_over = entry.path.empty() && entry.why_not.empty();
  count_entry(!passed_over);
  if (passed_over) return;
  if (!entry.why_not.empty()) return leave_out(raw_path, entry.why_not);
  if (!why_not.empty()) return leave_out(raw_path, why_not);
  if (tree_.files.count(entry.path) != 0) return leave_out(raw_path, "another entry has the same name");
  if (is_below_a_file(tree_, entry.path) || is_a_folder(tree_, entry.path)) {
    return leave_out(raw_path, "it is a file and a folder at once");
  }
  path_ = entry.path;
}

bool FileTreeBuilder::add_folder(const std::string& raw_path) {
  const EntryPath entry = clean_entry_path(raw_path);
  count_entry(!entry.path.empty());
  if (!entry.why_not.empty()) leave_out(raw_path, entry.why_not);
  return !entry.path.empty();
}

void FileTreeBuilder::add_bytes(const char* bytes, std::size_t size) {
  num_bytes_ += size;
  if (num_bytes_ > kPassedOver * limits_.max_total_bytes) {
    refuse(fmt::format("unpacked, it has more than {}", describe_bytes(kPassedOver * limits_.max_total_bytes)));
  }
  if (!is_wanted()) return;
  require_size(bytes_.size() + size);
  num_bytes_taken_ += size;
  if (num_bytes_taken_ > limits_.max_total_bytes) {
    refuse(fmt::format("unpacked, it has more than {}", describe_bytes(limits_.max_total_bytes)));
  }
  bytes_.append(bytes, size);
}

void FileTreeBuilder::end() {
  if (is_wanted()) tree_.files.emplace(std::move(path_), std::move(bytes_));
  path_.clear();
}

void FileTreeBuilder::require_size(std::uint64_t bytes) const {
  if (is_wanted() && bytes > limits_.max_file_bytes) {
    refuse(fmt::format("{} is larger than {}", path_, describe_bytes(limits_.max_file_bytes)));
  }
}

void FileTreeBuilder::leave_out(const std::string& raw_path, const std::string& why) {
  tree_.notes.push_back(fmt::format("'{}' was left out: {}", printable_name(raw_path), why));
}

void FileTreeBuilder::count_entry(bool taken) {
  ++num_entries_;
  if (taken) ++num_taken_;
  if (num_taken_ > limits_.max_entries) refuse(fmt::format("it has more than {} entries", limits_.max_entries));
  if (num_entries_ > kPassedOver * limits_.max_entries) {
    refuse(fmt::format("it has more than {} entries, hidden ones and build folders included",
                       kPassedOver * limits_.max_entries));
  }
}

void FileTreeBuilder::refuse(const std::string& what) const {
  throw UsageError(
      fmt::format("{}: {}, which is too much for a submission; hint: hand in what lab submit packs", source_, what));
}

}  // namespace lab
