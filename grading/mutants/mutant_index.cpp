#include "grading/mutants/mutant_index.h"

#include <fmt/format.h>

#include <algorithm>
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

std::string patch_of(const std::string& folder, const std::string& name) {
  return folder + "/" + name + ".patch";
}

Mutant read_mutant(const TomlTable& table, bool variant) {
  table.require_known({"name", "task", "lab", "also", "checks", "alone", "symptom", "what", "nightly"});
  Mutant mutant;
  mutant.name = table.string("name");
  mutant.what = table.string("what");
  mutant.lab = mutant.name.substr(0, mutant.name.find('/'));
  mutant.nightly = table.boolean("nightly", false);
  if (variant) return mutant;
  mutant.task = table.string("task");
  mutant.also = table.strings("also");
  mutant.checks = table.strings("checks");
  mutant.alone = table.boolean("alone", false);
  mutant.symptom = table.string("symptom", "");
  return mutant;
}

void require_all_patches(const std::string& folder, const std::vector<Mutant>& mutants) {
  std::set<std::string> listed;
  for (const Mutant& mutant : mutants) {
    if (!listed.insert(patch_of(folder, mutant.name)).second)
      throw UsageError(fmt::format("{}/mutants.toml: {} is listed twice", folder, mutant.name));
    if (!std::filesystem::exists(patch_of(folder, mutant.name)))
      throw UsageError(fmt::format("{}/mutants.toml: {} is listed, but {} is not there", folder, mutant.name,
                                   patch_of(folder, mutant.name)));
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".patch" && listed.count(entry.path().string()) == 0)
      throw UsageError(fmt::format("{}/mutants.toml: {} is not listed", folder, entry.path().string()));
  }
}

}  // namespace

std::vector<Mutant> load_mutants(const std::string& folder) {
  const TomlTable index = TomlTable::load(folder + "/mutants.toml");
  index.require_known({"mutant", "variant"});
  std::vector<Mutant> mutants;
  for (const TomlTable& table : index.tables("mutant")) mutants.push_back(read_mutant(table, false));
  for (const TomlTable& table : index.tables("variant")) mutants.push_back(read_mutant(table, true));
  require_all_patches(folder, mutants);
  return mutants;
}

std::map<std::string, std::string> mutated(const Mutant& mutant, const std::string& folder,
                                           const std::string& lab_folder,
                                           const std::map<std::string, std::string>& texts) {
  const launch::RunDirectory work;
  for (const auto& [name, text] : texts) {
    const std::filesystem::path path = work.path() + "/" + lab_folder + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  const std::string patch = patch_of(folder, mutant.name);
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
