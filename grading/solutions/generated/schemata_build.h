#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/launch/supervise/run_directory.h"
#include "grading/compile/build_recipe.h"
#include "grading/compile/object_store.h"
#include "grading/solutions/generated/source_mutants.h"

namespace lab::grading::generated {

using Sources = std::vector<std::unique_ptr<MutatedSource>>;

/// The mutants that the compiler's messages name, by lines of the file "mutant"; each with the first such message.
std::map<int, std::string> mutants_named(const std::string& errors);

/// Compiles files: names -> texts.
using CompileFiles =
    std::function<std::map<std::string, CompiledSource>(const std::map<std::string, std::string>& texts)>;

/// Objects of files with as many of their mutants as compile.
struct CompiledSchemata {
  std::map<std::string, std::string> objects;  ///< by file
  std::map<int, std::string> left_out;         ///< mutants that do not compile, and what the compiler says
  int rounds = 0;
};

/// Compiles all files with those of their mutants that are chosen, takes out those that the compiler refuses, and
/// compiles again, until all files compile.
/// Errors    UsageError: a file does not compile, and no mutant is to blame
CompiledSchemata compile_schemata(const Sources& sources, const std::set<int>& chosen, const CompileFiles& compile);

/// A lab's trial program with mutants in it.
struct SchemataProgram {
  std::shared_ptr<launch::RunDirectory> folder;  ///< holds the program as long as it is needed
  std::string program;
  std::map<int, std::string> left_out;
  int rounds = 0;
};
SchemataProgram build_schemata(BuildRecipe recipe, const Sources& sources, const std::set<int>& chosen,
                               const ObjectStore& store, const Sandbox& sandbox);

/// Where a build folder has the labs' trial programs.
constexpr char kTrialFolder[] = "trials/";

}  // namespace lab::grading::generated
