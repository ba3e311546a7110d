#include "grading/solutions/generated/lab_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/api/errors.h"
#include "common/course/rubric/toml_table.h"

namespace lab::grading::generated {

std::vector<const SourceMutant*> LabMutants::all() const {
  std::vector<const SourceMutant*> mutants;
  for (const auto& source : sources) {
    for (const SourceMutant& mutant : source->mutants()) mutants.push_back(&mutant);
  }
  return mutants;
}

const SourceMutant* LabMutants::find(int id) const {
  for (const SourceMutant* mutant : all()) {
    if (mutant->id == id) return mutant;
  }
  return nullptr;
}

std::map<std::string, std::string> LabMutants::submission(int id, const BuildRecipe& recipe) const {
  std::map<std::string, std::string> texts;
  for (const StudentSource& source : recipe.sources) texts[source.name] = source.reference;
  for (const auto& source : sources) {
    for (const SourceMutant& mutant : source->mutants()) {
      if (mutant.id == id) texts[mutant.file] = source->plain(mutant);
    }
  }
  return texts;
}

LabMutants lab_mutants(const std::string& lab, const BuildRecipe& recipe, const Rubric& rubric,
                       const std::vector<Solution>& rows) {
  std::set<std::string> tasks;
  for (const RubricTask& task : rubric.tasks) tasks.insert(task.id);
  std::map<std::string, std::vector<NumberedRow>> by_file;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> named = rows[i].also;
    if (!rows[i].task.empty()) named.push_back(rows[i].task);
    for (const std::string& task : named) {
      if (tasks.count(task) == 0)
        throw UsageError(fmt::format("{}: {} has no task {}", rows[i].place, recipe.lab, task));
    }
    for (const SourceChange& change : rows[i].changes) {
      std::vector<NumberedRow>& some = by_file[change.file];
      const int id = static_cast<int>(i) + 1;
      if (some.empty() || some.back().id != id) some.push_back({id, &rows[i], {}});
      some.back().changes.push_back(change);
    }
  }
  LabMutants made;
  made.lab = lab;
  for (const StudentSource& source : recipe.sources) {
    const auto found = by_file.find(recipe.lab + "/" + source.name);
    if (found == by_file.end()) continue;
    made.sources.push_back(std::make_unique<MutatedSource>(source.name, source.reference, tasks, found->second));
    by_file.erase(found);
  }
  if (!by_file.empty()) {
    const auto& [file, some] = *by_file.begin();
    throw UsageError(fmt::format("{}: {} is not a student file of {}", some.front().solution->place, file, recipe.lab));
  }
  return made;
}

std::vector<std::size_t> take_sample(std::size_t num_items, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> items(num_items);
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  // Fisher and Yates by hand: std::shuffle may differ between libraries.
  for (std::size_t i = 0; i < std::min(count, num_items); ++i) {
    const std::size_t other = i + static_cast<std::size_t>(random() % (num_items - i));
    std::swap(items[i], items[other]);
  }
  items.resize(std::min(count, num_items));
  std::sort(items.begin(), items.end());
  return items;
}

std::vector<Equivalent> load_equivalents(const std::string& path) {
  const TomlTable file = TomlTable::load(path);
  file.require_known({"equivalent"});
  std::vector<Equivalent> list;
  for (const TomlTable& table : file.tables("equivalent")) {
    table.require_known({"file", "line", "rule", "what", "why"});
    list.push_back({table.string("file"), table.string("line", ""), table.string("rule", ""), table.string("what", ""),
                    table.string("why")});
    if (list.back().why.empty()) throw UsageError(table.place() + ": expected a reason");
    if (list.back().file.empty()) throw UsageError(table.place() + ": expected a file, or a folder with / at its end");
  }
  return list;
}

std::string find_reason(const std::vector<Equivalent>& list, const std::string& lab_folder,
                        const SourceMutant& mutant) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Equivalent& one) {
    const std::string file = lab_folder + "/" + mutant.file;
    const bool same_file = one.file.back() == '/' ? file.compare(0, one.file.size(), one.file) == 0 : one.file == file;
    return same_file && (one.line_text.empty() || one.line_text == mutant.line_text) &&
           (one.rule.empty() || one.rule == mutant.rule) && mutant.what.compare(0, one.what.size(), one.what) == 0;
  });
  return found == list.end() ? "" : found->why;
}

}  // namespace lab::grading::generated
