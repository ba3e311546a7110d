#include "grading/hostile/hostile_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/toml_table.h"
#include "grading/hostile/hostile_place.h"

namespace lab::grading {
namespace {

// Far more than any needs: an entry ends because of the limits on what is judged, and not because of this one.
constexpr double kMostGradingSeconds = 1800;

[[noreturn]] void refuse_entry(const TomlTable& table, const std::string& problem) {
  throw UsageError(fmt::format("{}: {}", table.place(), problem));
}

HostileEntry read_hostile(const TomlTable& table, const std::vector<std::string>& tasks) {
  table.require_known(
      {"name", "task", "what", "archive", "file", "code", "marks", "says", "at_limits", "most_seconds", "nightly"});
  HostileEntry entry;
  entry.name = table.string("name");
  entry.task = table.string("task");
  entry.lab = entry.task.substr(0, entry.task.find('.'));
  entry.what = table.string("what");
  entry.archive = table.string("archive", "");
  entry.file = table.string("file", "");
  entry.code = table.string("code", "");
  entry.marks = table.number("marks", 0);
  entry.says = table.strings("says");
  entry.at_limits = table.string("at_limits", "");
  entry.most_seconds = table.number("most_seconds", kMostGradingSeconds);
  entry.nightly = table.boolean("nightly", false);
  if (std::find(tasks.begin(), tasks.end(), entry.task) == tasks.end())
    refuse_entry(table,
                 fmt::format("{}: no lab has a task {}{}", entry.name, entry.task, did_you_mean(entry.task, tasks)));
  return entry;
}

void require_hand_in(const TomlTable& table, const HostileEntry& entry) {
  if (entry.file.empty() != entry.code.empty() || entry.file.empty() == entry.archive.empty())
    refuse_entry(table, fmt::format("{}: expected either an archive, or a file and its code", entry.name));
  const std::vector<std::string> made = hostile_archive_names();
  if (!entry.archive.empty() && std::find(made.begin(), made.end(), entry.archive) == made.end())
    refuse_entry(table, fmt::format("{}: there is no archive {}{}", entry.name, entry.archive,
                                    did_you_mean(entry.archive, made)));
}

}  // namespace

std::vector<HostileEntry> load_hostile(const std::string& path, const std::vector<std::string>& tasks) {
  const TomlTable index = TomlTable::load(path);
  index.require_known({"system_call", "hostile"});
  const std::string system_call = index.string("system_call", "");
  std::vector<HostileEntry> entries;
  std::set<std::string> listed;
  for (const TomlTable& table : index.tables("hostile")) {
    HostileEntry& entry = entries.emplace_back(read_hostile(table, tasks));
    if (!listed.insert(entry.name).second) refuse_entry(table, fmt::format("{} is listed twice", entry.name));
    require_hand_in(table, entry);
    replace_all(entry.code, "@SYSTEM_CALL@", system_call);
  }
  return entries;
}

}  // namespace lab::grading
