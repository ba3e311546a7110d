#include "grading/judge/judging_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "common/base/option_value.h"
#include "common/base/text.h"
#include "common/cli/app.h"

namespace lab::grading {
namespace {

std::string existing_folder(const std::string& path, const char* hint) {
  std::error_code error;
  const auto found = std::filesystem::canonical(path, error);
  if (error) throw UsageError(fmt::format("{}: there is no such folder; hint: {}", path, hint));
  return found.string();
}

/// A name that is misspelt would hold nothing back.
void require_checks(const JudgedLab& lab, const Rubric& rubric, const std::string& instructors_file) {
  const std::vector<std::string> released = released_checks(rubric);
  if (released.empty()) return;
  std::vector<std::string> known = releasable(rubric);
  for (const Case& one : lab.cases()) known.push_back(one.name);
  for (const std::string& name : released) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(
          fmt::format("{}: [[release]]: expected \"{}\", the id of an item or the name of a check of {}, "
                      "got {}{}",
                      instructors_file, kReleasedSeed, lab.folder, option::quoted(name), did_you_mean(name, known)));
  }
}

}  // namespace

Rubric rubric_of(const JudgedLab& lab, const std::string& root, const std::string& instructors_file,
                 const Moment& now) {
  const Rubric own = load_rubric(root + "/" + lab.folder + "/rubric.toml");
  if (instructors_file.empty()) return own;
  const Rubric changed = with_overrides(own, instructors_file);
  require_checks(lab, changed, instructors_file);
  return as_of(changed, now);
}

Moment RubricOptions::now() const {
  if (!as_of.empty()) return moment_of(as_of, "--as-of");
  return {std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count(),
          0};
}

void RubricOptions::add_to(cli::App& app) {
  app.add_text("--source", source, "DIR", "the suite's own tree");
  app.add_text("--rubric", rubric, "FILE", "other marks and weights than the labs' own, and policies");
  app.add_text("--as-of", as_of, "TIME",
               "when students see it, such as 2026-12-01T18:00+01:00: what the rubric releases later is held back "
               "(default: now)");
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

JudgingPlace::JudgingPlace(const PlaceOptions& options)
    : root_(existing_folder(options.source, "--source names the tree of the suite")),
      build_(existing_folder(options.build.empty() ? root_ + "/build/release" : options.build,
                             "./lab build release makes it")),
      rubric_(options.rubric),
      now_(options.now()),
      sandbox_(Sandbox::detect(!options.no_sandbox, options.wall_seconds).also_reading(foreign_folders(build_))),
      store_(build_ + "/grading/objects", sandbox_) {
  if (options.require_sandbox && !sandbox_.isolates())
    throw UsageError(
        fmt::format("--require-sandbox: expected bubblewrap to work, got: {}; hint: apt-get install "
                    "bubblewrap, or allow user namespaces (a container may forbid them)",
                    sandbox_.level()));
}

Rubric JudgingPlace::rubric(const JudgedLab& lab) const {
  return rubric_of(lab, root_, rubric_, now_);
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
