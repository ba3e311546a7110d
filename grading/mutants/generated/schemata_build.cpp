#include "grading/mutants/generated/schemata_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "grading/judge/compile/link_objects.h"

namespace lab::grading::generated {
namespace {

/// The numbers N of lines "FILE:N:" of the compiler's output that hold `what`.
std::set<int> lines_named(const std::string& errors, const std::string& file, const std::vector<std::string>& what) {
  std::set<int> numbers;
  for (const std::string& line : lines_of(errors)) {
    const bool about = std::any_of(what.begin(), what.end(),
                                   [&](const std::string& one) { return line.find(one) != std::string::npos; });
    const std::size_t at = line.find(file + ":");
    if (!about || at == std::string::npos) continue;
    if (const int number = std::atoi(line.c_str() + at + file.size() + 1); number > 0) numbers.insert(number);
  }
  return numbers;
}

/// Without the errors that follow from a declaration with a mutant in it that does not compile: what it declares is then
/// unknown in the original's lines, and in all mutants after it.
std::string without_consequences(const std::string& errors, const std::string& file) {
  static const std::regex undeclared("error: \\W+(\\w+)\\W+ was not declared");
  std::set<std::string> lost;
  std::smatch found;
  for (const std::string& line : lines_of(errors)) {
    if (line.find(file + ":") == 0 && std::regex_search(line, found, undeclared)) lost.insert(found[1]);
  }
  std::string kept;
  for (const std::string& line : lines_of(errors)) {
    const bool follows = line.find("<expression error>") != std::string::npos ||
                         (std::regex_search(line, found, undeclared) && lost.count(found[1]) != 0);
    if (!follows) kept += line + "\n";
  }
  return kept;
}

}  // namespace

std::set<int> mutants_named(const std::string& all_errors, const MutatedSource& source,
                            const std::vector<const SourceMutant*>& some) {
  const std::string causes = without_consequences(all_errors, source.file());
  const std::string& errors = lines_named(causes, "mutant", {"error:"}).empty() ? all_errors : causes;
  std::set<int> lines = lines_named(errors, "mutant", {"error:"});
  if (lines.empty()) lines = lines_named(errors, "mutant", {"required from"});
  std::set<int> named;
  for (const int line : lines) named.insert(line / kLinesOfMutant);
  if (!named.empty()) return named;
  // What is wrong with a choice as a whole is reported at the original's line.
  lines = lines_named(errors, source.file(), {"error:"});
  for (const SourceMutant* mutant : some) {
    const auto [first, last] = source.lines_of_edits(*mutant);
    if (lines.lower_bound(first) != lines.upper_bound(last)) named.insert(mutant->id);
  }
  return named;
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
      const std::set<int> named = mutants_named(compiled.errors, *missing.at(file), mutants[file]);
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
    // Every error, each on a line; mutants need not please.
    for (const char* option : {"-w", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never"})
      source.compile.emplace_back(option);
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
