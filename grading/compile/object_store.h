#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/compile/compiler.h"

namespace lab::grading {

/// What the store has of one unit, if it has it.
struct StoreEntry {
  std::string key, base;  ///< base: its path without an extension

  bool exists() const;
  CompiledSource load() const;  ///< and marks it as used
};

/// Cache of compiled student files, keyed by everything that determines the object: command, headers, text. A
/// submission that shares files with another, or with its own last version, waits only for what is new. Entries that
/// have not been used for 30 days are removed.
class ObjectStore {
 public:
  /// `folder` is created if it does not exist.
  ObjectStore(const std::string& folder, const Sandbox& sandbox);

  /// Compiles what is not cached yet, two files at a time. `texts`: file names of the recipe -> the text to compile.
  /// Errors    UsageError: the folder cannot be written; NotJudged: the machine kept the compiler from working, twice
  std::map<std::string, CompiledSource> compile(const BuildRecipe& recipe,
                                                const std::map<std::string, std::string>& texts) const;

  /// Files of which list_units() says that they can be one unit, as one, in a fraction of the time: most of it goes into
  /// what the precompiled header leaves to the end of each unit. No object: one of them does not compile, or not alone.
  /// Errors    as compile()
  CompiledSource compile_as_one(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts) const;

 private:
  /// Of the unit of these files.
  StoreEntry find_entry(const BuildRecipe& recipe, const std::string& surroundings,
                        const std::map<std::string, std::string>& texts) const;

  std::string folder_;
  const Sandbox& sandbox_;
};

}  // namespace lab::grading
