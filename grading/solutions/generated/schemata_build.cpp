#include "grading/solutions/generated/schemata_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "grading/compile/link_objects.h"

namespace lab::grading::generated {
namespace {

/// The mutants on lines of the compiler's output that hold `what`.
std::map<int, std::string> mutants_on_lines(const std::string& errors, const std::string& what) {
  const std::string file = "mutant:";
  std::map<int, std::string> ids;
  for (const std::string& line : list_lines(errors)) {
    const std::size_t at = line.find(file);
    if (at == std::string::npos || line.find(what) == std::string::npos) continue;
    if (const int id = std::atoi(line.c_str() + at + file.size()) / kLinesOfMutant; id > 0)
      ids.emplace(id, one_line(line));
  }
  return ids;
}

}  // namespace

std::map<int, std::string> mutants_named(const std::string& errors) {
  const std::map<int, std::string> wrong = mutants_on_lines(errors, "error:");
  // An error in a template names in notes who asked for it.
  return wrong.empty() ? mutants_on_lines(errors, "") : wrong;
}

CompiledSchemata compile_schemata(const Sources& sources, const std::set<int>& chosen, const CompileFiles& compile) {
  CompiledSchemata result;
  std::map<std::string, const MutatedSource*> missing;
  for (const auto& source : sources) {
    const std::vector<SourceMutant>& all = source->mutants();
    if (std::any_of(all.begin(), all.end(), [&](const SourceMutant& one) { return chosen.count(one.id) != 0; }))
      missing[source->file()] = source.get();
  }
  while (!missing.empty()) {
    ++result.rounds;
    std::map<std::string, std::string> texts;
    std::map<std::string, std::vector<const SourceMutant*>> mutants;
    for (const auto& [file, source] : missing) {
      for (const SourceMutant& mutant : source->mutants()) {
        if (chosen.count(mutant.id) != 0 && result.left_out.count(mutant.id) == 0) mutants[file].push_back(&mutant);
      }
      texts[file] = source->schemata(mutants[file]);
    }
    for (const auto& [file, compiled] : compile(texts)) {
      if (!compiled.object.empty()) {
        result.objects[file] = compiled.object;
        missing.erase(file);
        continue;
      }
      const std::map<int, std::string> named = mutants_named(compiled.errors);
      const std::size_t before = result.left_out.size();
      result.left_out.insert(named.begin(), named.end());
      if (result.left_out.size() == before)
        throw UsageError(
            fmt::format("{} does not compile with its mutants: {}", file, compiled.errors.substr(0, 2000)));
    }
  }
  return result;
}

SchemataProgram build_schemata(BuildRecipe recipe, const Sources& sources, const std::set<int>& chosen,
                               const ObjectStore& store, const Sandbox& sandbox) {
  for (StudentSource& source : recipe.sources) {
    // Mutants need not please.
    for (const char* option : {"-w", "-fdiagnostics-color=never"}) source.compile.emplace_back(option);
  }
  const CompiledSchemata compiled =
      compile_schemata(sources, chosen, [&](const auto& texts) { return store.compile(recipe, texts); });
  std::map<std::string, std::string> objects = compiled.objects;
  for (const StudentSource& source : recipe.sources) objects.emplace(source.name, source.reference_object);
  SchemataProgram result;
  result.folder = std::make_shared<launch::RunDirectory>();
  result.program = result.folder->path() + "/" + recipe.lab;
  result.left_out = compiled.left_out;
  result.rounds = compiled.rounds;
  const std::string errors = link_objects(recipe, objects, result.program, sandbox);
  if (!errors.empty()) throw UsageError(fmt::format("{} with its mutants cannot be linked: {}", recipe.lab, errors));
  return result;
}

}  // namespace lab::grading::generated
