#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/judge/compile/build_recipe.h"
#include "grading/judge/sandbox/sandbox.h"

namespace lab::grading {

/// What became of one student file: an object, or the compiler's errors.
struct CompiledSource {
  std::string object;  ///< path; empty: it did not compile
  std::string errors;
};

/// What the store has of one unit, if it has it.
struct StoreEntry {
  std::string key, base;  ///< base: its path without an extension

  bool exists() const;
  CompiledSource load() const;
};

/// Cache of compiled student files, keyed by everything that determines the object: command, headers, text. A
/// submission that shares files with another, or with its own last version, waits only for what is new.
class ObjectStore {
 public:
  /// `folder` is created if it does not exist.
  ObjectStore(const std::string& folder, const Sandbox& sandbox);

  /// Compiles what is not cached yet, two files at a time. `texts`: file names of the recipe -> the text to compile.
  /// Errors    UsageError: the folder cannot be written; NotJudged: the machine kept the compiler from working, twice
  std::map<std::string, CompiledSource> compile(const BuildRecipe& recipe,
                                                const std::map<std::string, std::string>& texts) const;

  /// The same files as one unit, in a fraction of the time: most of it goes into what the precompiled header leaves to
  /// the end of each unit. Nothing: they cannot be, since one is not valid alone, or means something else next to
  /// another (one_unit.h), or the unit does not compile.
  /// Returns   the object's path
  /// Errors    as compile()
  std::optional<std::string> compile_as_one(const BuildRecipe& recipe,
                                            const std::map<std::string, std::string>& texts) const;

 private:
  /// Of the unit of these files.
  StoreEntry entry_of(const BuildRecipe& recipe, const std::string& surroundings,
                      const std::map<std::string, std::string>& texts) const;

  std::string folder_;
  const Sandbox& sandbox_;
};

}  // namespace lab::grading
