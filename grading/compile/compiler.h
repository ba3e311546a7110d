#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grading/compile/build_recipe.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {

/// What to show of a compiler's or a linker's output: a dozen lines from the first error on, cut to 300 characters each;
/// without an error among them, the first 1,000 characters.
std::string first_errors(const std::string& output);

/// What became of one student file: an object, or the compiler's errors.
struct CompiledSource {
  std::string object;  ///< path; empty: it did not compile
  std::string errors;
};

struct CompiledUnit {
  std::string name;       ///< of the file, as in the recipe; empty: all as one unit
  CompiledSource source;  ///< its object is there until `take` returns
  bool is_final = true;   ///< false: another time, the other files may leave it more time
};

/// Compiles student files in the sandbox, two at a time, in a tree that looks like the suite's without its secrets.
/// `texts`: file names of the recipe -> the text to compile. `take` is called for each.
/// Returns   the errors of a compiler that the machine kept from working; empty if there was none
std::string compile_each(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts,
                         const Sandbox& sandbox, const std::function<void(const CompiledUnit&)>& take);

/// Divides the files into units, each of which means the same as its files one by one (one_unit.h).
std::vector<std::map<std::string, std::string>> list_units(const BuildRecipe& recipe,
                                                           const std::map<std::string, std::string>& texts);

/// As compile_each(), all files as one of those units. It has no object if one of them is not valid alone.
std::string compile_unit(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts,
                         const Sandbox& sandbox, const std::function<void(const CompiledUnit&)>& take);

}  // namespace lab::grading
