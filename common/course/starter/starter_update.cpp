#include "common/course/starter/starter_update.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/course/starter/starter_tree.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// The changes to make. All of them are known before the first file is touched.
struct UpdatePlan {
  StarterTree copies;  ///< of what a student edited, and versions put next to it
  StarterTree writes;
  std::vector<std::string> removals;
};

class UpdatePlanner {
 public:
  UpdatePlanner(const StarterTree& tree, const std::string& folder)
      : tree_(tree), folder_(folder), given_before_(read_starter_list(folder)) {}

  UpdatePlan plan(StarterUpdate& update) const {
    UpdatePlan plan;
    for (const auto& [path, file] : tree_) plan_file(path, file, plan, update);
    for (const auto& [path, fingerprint] : given_before_) {
      if (tree_.count(path) == 0) plan_removal(path, fingerprint, plan, update);
    }
    return plan;
  }

 private:
  /// The file's bytes; nothing if it is not there.
  std::optional<std::string> found(const std::string& path) const {
    const std::string full = folder_ + "/" + path;
    if (!fs::exists(fs::symlink_status(full))) return std::nullopt;
    return read_file(full);
  }

  bool was_given(const std::string& path, const std::string& bytes) const {
    const auto before = given_before_.find(path);
    return before != given_before_.end() && before->second == compute_fingerprint(bytes);
  }

  void plan_file(const std::string& path, const StarterFile& file, UpdatePlan& plan, StarterUpdate& update) const {
    const std::optional<std::string> there = found(path);
    if (there == file.bytes) return;
    const bool pristine = path.compare(0, std::string(kPristineFolder).size(), kPristineFolder) == 0;
    if (!there || pristine || was_given(path, *there)) {
      plan.writes[path] = file;
    } else if (!is_student_file(path)) {
      const std::string backup = backup_place(folder_, path, *there);
      plan.copies[backup] = {*there, false};
      plan.writes[path] = file;
      update.messages.push_back(fmt::format("{}: you had edited it; your version is in {}", path, backup));
    } else if (!was_given(path, file.bytes)) {
      const std::string new_version = path + ".new";
      if (found(new_version) != file.bytes) plan.copies[new_version] = {file.bytes, false};
      update.messages.push_back(
          fmt::format("{}: yours stays; the new version has changed it, see {}", path, new_version));
    }
  }

  void plan_removal(const std::string& path, const std::string& fingerprint, UpdatePlan& plan,
                    StarterUpdate& update) const {
    const std::optional<std::string> there = found(path);
    if (!there) return;
    if (compute_fingerprint(*there) == fingerprint) {
      plan.removals.push_back(path);
    } else {
      update.messages.push_back(fmt::format("{}: stays, as you had edited it; the new version has no such file", path));
    }
  }

  const StarterTree& tree_;
  const std::string& folder_;
  const std::map<std::string, std::string> given_before_;
};

void write_starter_file(const std::string& full, const StarterFile& file) {
  make_folder("starter", fs::path(full).parent_path().string());
  write_file_atomically(full, file.bytes);
  if (!file.executable) return;
  const fs::perms all = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(full, all, fs::perm_options::add);
}

void remove_starter_file(const std::string& folder, const std::string& path) {
  std::error_code stays;  // a folder that is not empty
  fs::remove(folder + "/" + path);
  for (fs::path above = fs::path(path).parent_path(); !above.empty(); above = above.parent_path()) {
    if (!fs::remove(fs::path(folder) / above, stays)) break;
  }
}

void require_free_or_starter(const std::string& folder) {
  if (!fs::exists(folder) || fs::exists(folder + "/" + starter_list_path())) return;
  if (fs::is_directory(folder) && fs::is_empty(folder)) return;
  throw UsageError(
      fmt::format("'{}': expected a new or empty folder, or a starter to update (with {}); it holds other "
                  "things, and nothing was changed",
                  folder, starter_list_path()));
}

StarterUpdate update_folder(const StarterTree& tree, const std::string& folder) {
  require_free_or_starter(folder);
  StarterUpdate update;
  update.fresh = !fs::exists(folder + "/" + starter_list_path());
  update.num_files = tree.size();
  const UpdatePlan plan = UpdatePlanner(tree, folder).plan(update);
  // A folder with a partly written starter counts as one: the same call can then be repeated.
  const std::string list_path = folder + "/" + starter_list_path();
  if (update.fresh) write_starter_file(list_path, {starter_list({}), false});
  for (const auto& [path, file] : plan.copies) write_starter_file(folder + "/" + path, file);
  for (const auto& [path, file] : plan.writes) write_starter_file(folder + "/" + path, file);
  for (const std::string& path : plan.removals) remove_starter_file(folder, path);
  update.num_written = plan.writes.size();
  update.num_removed = plan.removals.size();
  // The list last: until then, a repeated update must know what was handed out before.
  const StarterFile list{starter_list(tree), false};
  if (read_file(list_path) != list.bytes) write_starter_file(list_path, list);
  return update;
}

}  // namespace

StarterUpdate update_starter(const StarterTree& tree, const std::string& folder) {
  try {
    return update_folder(tree, folder);
  } catch (const fs::filesystem_error& failure) {
    throw UsageError(fmt::format("starter '{}': {} ({})", folder, failure.path1().string(), failure.code().message()));
  }
}

std::string to_text(const StarterUpdate& update, const std::string& folder) {
  if (update.fresh) return fmt::format("a starter of {} files is in {}\n", update.num_files, folder);
  std::string text =
      fmt::format("{} is up to date: of {} files {} were written, {} that are no longer needed removed\n", folder,
                  update.num_files, update.num_written, update.num_removed);
  for (const std::string& message : update.messages) text += "  " + message + "\n";
  return text;
}

}  // namespace lab
