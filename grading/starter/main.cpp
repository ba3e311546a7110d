#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/course/starter/starter_update.h"
#include "grading/starter/derive_starter.h"
#include "grading/starter/prebuilt.h"

// The program behind `lab starter DIR`: makes the students' tree, or updates one.
namespace lab::grading {
namespace {

namespace fs = std::filesystem;

/// A starter inside the sources that it is derived from would be part of the next one.
void refuse_inside_sources(const std::string& folder, const std::string& source, std::vector<std::string> parts) {
  parts.insert(parts.end(), {"common", "grading", ".git"});
  const fs::path inside = fs::weakly_canonical(folder).lexically_relative(fs::weakly_canonical(source));
  if (inside.empty() || std::find(parts.begin(), parts.end(), *inside.begin()) == parts.end()) return;
  throw UsageError(
      fmt::format("'{}' is in the source tree's {}; expected a folder elsewhere", folder, inside.begin()->string()));
}

ExitCode run(int argc, char** argv) {
  cli::App app(
      "labstarter",
      "Makes the students' tree of all labs, or of some; an existing one is updated, and student work is kept.");
  std::string folder, source = ".", names;
  bool is_prebuilt = false;
  app.add_argument("DIR", folder, "folder to make or update");
  app.add_text("--labs", names, "LABS", "such as a4,a9; default: those of the existing starter, or all");
  app.add_flag("--prebuilt", is_prebuilt,
               "also compile the provided code here: a machine with this distribution, compiler and LibTorch then "
               "compiles student files only");
  app.add_text("--source", source, "DIR", "the suite's source tree");
  if (const auto done = app.parse(argc, argv)) return *done;

  const std::vector<std::string> known = labs_of_source(source);
  refuse_inside_sources(folder, source, known);
  std::vector<std::string> labs = app.given("--labs") ? chosen_labs(names, source) : labs_of_starter(folder, known);
  if (labs.empty()) labs = known;
  StarterTree tree = derive_starter(source, labs);
  if (is_prebuilt) tree.merge(compile_provided_code(tree));
  fmt::print("{}", to_text(update_starter(tree, folder), folder));
  return ExitCode::kAllMatch;
}

}  // namespace
}  // namespace lab::grading

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::grading::run);
}
