#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/compile/build_recipe.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {

/// A job for a tool that reads what untrusted code was compiled to: the linker, nm.
SandboxJob tool_job(const std::string& folder, std::vector<std::string> argv);

/// Links objects, by the names of their sources, to the recipe's program at the path `program`.
/// Returns   the linker's errors, which name the objects that it cannot use; empty: it succeeded
/// Errors    NotJudged: the machine kept the linker from working, twice
std::string link_objects(const BuildRecipe& recipe, const std::map<std::string, std::string>& objects,
                         const std::string& program, const Sandbox& sandbox);

}  // namespace lab::grading
