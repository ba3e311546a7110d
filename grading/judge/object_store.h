#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/judge/build_recipe.h"
#include "grading/judge/sandbox.h"

namespace lab::grading {

/// What became of one student file: an object, or the compiler's words.
struct CompiledSource {
  std::string object;  ///< path; empty: it did not compile
  std::string errors;
};

/// Objects of student files that were compiled before, by everything that decides what they are: command, headers,
/// text. A submission that shares files with another, or with its own last version, waits only for what is new.
class ObjectStore {
 public:
  /// `folder` is made where it is not there.
  ObjectStore(const std::string& folder, const Sandbox& sandbox);

  /// Compiles what is not there yet, two files at a time. `texts`: file names of the recipe, with the text to compile.
  /// Errors    UsageError: the folder cannot be written; NotJudged: the machine kept the compiler from its work, twice
  std::map<std::string, CompiledSource> compile(const BuildRecipe& recipe,
                                                const std::map<std::string, std::string>& texts) const;

 private:
  std::string folder_;
  const Sandbox& sandbox_;
};

}  // namespace lab::grading
