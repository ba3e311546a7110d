#include "grading/hostile/hostile_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/toml_table.h"
#include "grading/hostile/hostile_place.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

// Far more than any needs: an entry ends because of the limits on what is judged, and not because of this one.
constexpr double kMostGradingSeconds = 1800;

[[noreturn]] void refuse_entry(const TomlTable& table, const std::string& problem) {
  throw UsageError(fmt::format("{}: {}", table.place(), problem));
}

HostileEntry read_hostile(const TomlTable& table, const std::vector<std::string>& tasks) {
  table.require_known({"name", "task", "what", "archive", "marks", "says", "at_limits", "most_seconds", "quick"});
  HostileEntry entry;
  entry.name = table.string("name");
  entry.task = table.string("task");
  entry.lab = entry.task.substr(0, entry.task.find('.'));
  entry.what = table.string("what");
  entry.archive = table.string("archive", "");
  entry.marks = table.number("marks", 0);
  entry.says = table.strings("says");
  entry.at_limits = table.string("at_limits", "");
  entry.most_seconds = table.number("most_seconds", kMostGradingSeconds);
  entry.quick = table.boolean("quick", false);
  if (std::find(tasks.begin(), tasks.end(), entry.task) == tasks.end())
    refuse_entry(table,
                 fmt::format("{}: no lab has a task {}{}", entry.name, entry.task, did_you_mean(entry.task, tasks)));
  return entry;
}

bool has_student_file(const std::string& folder) {
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/student", missing)) {
    if (entry.is_regular_file()) return true;
  }
  return false;
}

void require_hand_in(const std::string& folder, const TomlTable& table, const HostileEntry& entry) {
  const std::string own = folder + "/" + entry.name;
  if (entry.archive.empty()) {
    if (!has_student_file(own))
      refuse_entry(table, fmt::format("{} is listed, but there is no file in {}/student", entry.name, own));
    return;
  }
  const std::vector<std::string> made = hostile_archive_names();
  if (fs::exists(own)) refuse_entry(table, fmt::format("{} is an archive, but {} is there, too", entry.name, own));
  if (std::find(made.begin(), made.end(), entry.archive) == made.end())
    refuse_entry(table, fmt::format("{}: there is no archive {}{}", entry.name, entry.archive,
                                    did_you_mean(entry.archive, made)));
}

}  // namespace

std::vector<HostileEntry> load_hostile(const std::string& folder, const std::vector<std::string>& tasks) {
  const std::string file = folder + "/hostile.toml";
  const TomlTable index = TomlTable::load(file);
  index.require_known({"hostile"});
  std::vector<HostileEntry> entries;
  std::set<std::string> listed;
  for (const TomlTable& table : index.tables("hostile")) {
    entries.push_back(read_hostile(table, tasks));
    if (!listed.insert(entries.back().name).second)
      refuse_entry(table, fmt::format("{} is listed twice", entries.back().name));
    require_hand_in(folder, table, entries.back());
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "tests" && listed.count(name) == 0)
      throw UsageError(fmt::format("{}: {} is not listed", file, entry.path().string()));
  }
  return entries;
}

}  // namespace lab::grading
