#include "grading/solutions/solution_table.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/course/rubric/toml_table.h"
#include "common/launch/supervise/run_directory.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> find_number(const TomlTable& table, const std::string& key, int least) {
  if (!table.has(key)) return std::nullopt;
  const double number = table.number(key);
  if (number < least)
    throw UsageError(fmt::format("{}: {} {}: expected at least {}", table.place(), key, number, least));
  return static_cast<std::int64_t>(number);
}

SourceChange read_change(const TomlTable& table, const std::string& file) {
  SourceChange change;
  change.file = table.string("file", file);
  if (change.file.empty()) throw UsageError(table.place() + ": expected `file`, or `patch`, got neither");
  change.part = static_cast<int>(find_number(table, "part", 1).value_or(0));
  if (const auto at = find_number(table, "at", 0)) change.at = static_cast<std::size_t>(*at);
  change.with = table.string("with");
  if (change.part == 0) change.replace = table.string("replace");
  if (change.part == 0 && change.replace.empty())
    throw UsageError(table.place() + ": expected a text to replace, got nothing");
  if (change.part != 0 && (table.has("replace") || table.has("at")))
    throw UsageError(table.place() + ": expected either `part` or `replace`, got both");
  return change;
}

bool is_right(const TomlTable& table) {
  const std::string expected = table.string("expected", "wrong");
  if (expected != "right" && expected != "wrong")
    throw UsageError(fmt::format("{}: expected = \"{}\": expected \"wrong\" or \"right\"", table.place(), expected));
  return expected == "right";
}

Solution read_solution(const TomlTable& table) {
  table.require_known({"name",   "task",  "also",     "checks", "symptom", "header",  "sentence",
                       "rule",   "what",  "file",     "part",   "at",      "replace", "with",
                       "change", "patch", "expected", "alone",  "judge",   "nightly", "says"});
  Solution one;
  one.place = table.place();
  one.name = table.string("name", "");
  one.task = table.string("task", "");
  one.also = table.strings("also");
  one.checks = table.strings("checks");
  one.symptom = table.string("symptom", "");
  one.says = table.string("says", "");
  one.header = table.string("header", "");
  one.sentence = table.string("sentence", "");
  one.rule = table.string("rule", "");
  one.what = table.string("what", "");
  one.patch = table.string("patch", "");
  one.right = is_right(table);
  one.alone = table.boolean("alone", false);
  one.judge = table.boolean("judge", false) || !one.patch.empty();
  one.nightly = table.boolean("nightly", false);
  if (table.has("with")) one.changes.push_back(read_change(table, ""));
  for (const TomlTable& change : table.tables("change")) {
    change.require_known({"file", "part", "at", "replace", "with"});
    one.changes.push_back(read_change(change, table.string("file", "")));
  }
  if (one.patch.empty() == one.changes.empty())
    throw UsageError(one.place + ": expected either `with`, [[solution.change]] or `patch`");
  if (!one.patch.empty() && !one.right && one.task.empty())
    throw UsageError(one.place + ": expected the task that a patch must cost its marks, got none");
  if (one.header.empty() != one.sentence.empty())
    throw UsageError(one.place + ": expected both `header` and `sentence`, or neither");
  if (one.right && !(one.symptom.empty() && one.says.empty() && one.checks.empty() && one.also.empty() && one.sentence.empty()))
    throw UsageError(one.place + ": expected a right solution to lose nothing");
  return one;
}

void require_each_once(const std::string& path, const std::vector<Solution>& solutions) {
  std::set<std::string> names, patches;
  const fs::path folder = fs::path(path).replace_extension("");
  for (const Solution& one : solutions) {
    if (!one.name.empty() && !names.insert(one.name).second)
      throw UsageError(fmt::format("{}: '{}' is the name of another row, too", one.place, one.name));
    if (one.patch.empty()) continue;
    const fs::path patch = folder.parent_path() / one.patch;
    patches.insert(patch.lexically_normal());
    if (!fs::exists(patch)) throw UsageError(fmt::format("{}: there is no {}", one.place, patch.string()));
  }
  if (!fs::is_directory(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".patch" && patches.count(entry.path().lexically_normal()) == 0)
      throw UsageError(fmt::format("{}: no row names {}", path, entry.path().string()));
  }
}

}  // namespace

SolutionTable load_solutions(const std::string& path) {
  const TomlTable file = TomlTable::load(path);
  file.require_known({"solution", "kept"});
  SolutionTable all;
  for (const TomlTable& table : file.tables("solution")) all.solutions.push_back(read_solution(table));
  for (const TomlTable& table : file.tables("kept")) {
    table.require_known({"header", "sentence", "given"});
    all.kept.push_back({table.string("header"), table.string("sentence"), table.string("given"), table.place()});
  }
  require_each_once(path, all.solutions);
  return all;
}

std::map<std::string, std::string> patched(const std::string& patch, const std::string& lab_folder,
                                           const std::map<std::string, std::string>& texts) {
  const launch::RunDirectory work;
  for (const auto& [name, text] : texts) {
    const fs::path path = work.path() + "/" + lab_folder + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  if (!is_in_path("patch")) throw UsageError(fmt::format("{} needs patch; hint: apt-get install patch", patch));
  ProcessSpec command;
  command.argv = {"patch", "-p1", "--batch", "--fuzz=0", "--no-backup-if-mismatch"};
  command.folder = work.path();
  command.input = read_file(patch);
  const ProgramEnd end = run_program(command);
  if (!end.well()) throw UsageError(fmt::format("{} does not apply to the reference: {}{}", patch, end.out, end.err));
  std::map<std::string, std::string> changed;
  bool any = false;
  for (const auto& [name, text] : texts) {
    changed[name] = read_file(work.path() + "/" + lab_folder + "/" + name);
    any = any || changed[name] != text;
  }
  if (!any) throw UsageError(fmt::format("{} changes no student file of {}", patch, lab_folder));
  return changed;
}

}  // namespace lab::grading
