#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grading/compile/build_recipe.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {

/// An object of a program, and the student files that it was compiled from.
struct BuiltObject {
  std::set<std::string> files;
  std::string path;
};

/// The objects of the program with the reference in place of some files, without compiling: the symbols that the
/// reference defines in these become weak in a copy of each unit that has more files.
/// `folder`: for the copies
/// Returns   paths, by a name; nothing where that may not be the program that the remaining files would give: a unit
///           also defines other symbols, something in it runs before main(), or its functions may be inlined
std::optional<std::map<std::string, std::string>> with_reference(const BuildRecipe& recipe,
                                                                 const std::vector<BuiltObject>& objects,
                                                                 const std::set<std::string>& reference,
                                                                 const std::string& folder, const Sandbox& sandbox);

}  // namespace lab::grading
