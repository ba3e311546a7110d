#include "grading/judge/judging_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "common/cli/app.h"

namespace lab::grading {
namespace {

std::string existing_folder(const std::string& path, const char* hint) {
  std::error_code error;
  const auto found = std::filesystem::canonical(path, error);
  if (error) throw UsageError(fmt::format("{}: there is no such folder; hint: {}", path, hint));
  return found.string();
}

}  // namespace

Rubric load_lab_rubric(const JudgedLab& lab, const std::string& root, const std::string& instructors_file) {
  const Rubric own = load_rubric(root + "/" + lab.folder + "/rubric.toml");
  if (instructors_file.empty()) return own;
  std::vector<std::string> folders;
  for (const JudgedLab& one : judged_labs()) folders.push_back(one.folder);
  return with_overrides(own, instructors_file, folders);
}

void RubricOptions::add_to(cli::App& app) {
  app.add_text("--source", source, "DIR", "the suite's own tree");
  app.add_text("--rubric", rubric, "FILE", "other marks, weights and sizes than the labs' own");
}

void PlaceOptions::add_to(cli::App& app) {
  RubricOptions::add_to(app);
  app.add_text("--build", build, "DIR", "its build folder (default: build/release in the tree)");
  app.add_flag("--no-sandbox", no_sandbox, "do without bubblewrap; for submissions that you trust");
  app.add_flag("--require-sandbox", require_sandbox, "judge nothing where bubblewrap does not work");
  app.add_number(
      "--wall-limit", wall_seconds, {0, 1e6, "SECONDS"},
      "the longest that one run may take by the clock; what takes longer is tried once more, then not judged");
}

std::vector<std::string> PlaceOptions::arguments() const {
  std::vector<std::string> arguments = {"--wall-limit", fmt::format("{}", wall_seconds)};
  const std::map<std::string, std::string> paths = {{"--source", source}, {"--build", build}, {"--rubric", rubric}};
  for (const auto& [option, path] : paths) {
    if (!path.empty()) arguments.insert(arguments.end(), {option, std::filesystem::absolute(path).string()});
  }
  if (no_sandbox) arguments.emplace_back("--no-sandbox");
  if (require_sandbox) arguments.emplace_back("--require-sandbox");
  return arguments;
}

JudgingPlace::JudgingPlace(const PlaceOptions& options)
    : root_(existing_folder(options.source, "--source names the tree of the suite")),
      build_(existing_folder(options.build.empty() ? root_ + "/build/release" : options.build,
                             "./lab build release makes it")),
      rubric_(options.rubric),
      sandbox_(Sandbox::detect(!options.no_sandbox, options.wall_seconds).also_reading(foreign_folders(build_))),
      store_(build_ + "/grading/objects", sandbox_) {
  if (options.require_sandbox && !sandbox_.isolates())
    throw UsageError(
        fmt::format("--require-sandbox: expected bubblewrap to work, got: {}; hint: apt-get install "
                    "bubblewrap, or allow user namespaces (a container may forbid them)",
                    sandbox_.level()));
}

Rubric JudgingPlace::rubric(const JudgedLab& lab) const {
  return load_lab_rubric(lab, root_, rubric_);
}

const BuildRecipe& JudgingPlace::recipe(const JudgedLab& lab) const {
  const auto found = recipes_.find(lab.folder);
  return found != recipes_.end()
             ? found->second
             : recipes_.emplace(lab.folder, load_build_recipe(root_, build_, lab.folder)).first->second;
}

StudentBuilder JudgingPlace::builder(const JudgedLab& lab, const AcceptedSymbols& accepted) const {
  return StudentBuilder(recipe(lab), store_, sandbox_, accepted);
}

}  // namespace lab::grading
