#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/checks/graded_lab.h"
#include "common/course/rubric/rubric.h"
#include "grading/compile/object_store.h"
#include "grading/compile/student_build.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {

/// A lab as the judge knows it. Expected results are computed by the suite's own code, never by a submission's.
struct JudgedLab : GradedLab {
  std::string folder;  ///< "a9_collectives"
};

/// The lab's own sizes, or those that the rubric has instead.
CheckedSizes judged_sizes(const JudgedLab& lab, const Rubric& rubric);

/// All labs of the tree, by name.
const std::vector<JudgedLab>& judged_labs();

/// By folder or short name.
/// Errors    UsageError: there is none; the nearest name is suggested
const JudgedLab& judged_lab(const std::string& name);

}  // namespace lab::grading

namespace lab {
namespace cli {
class App;
}
}  // namespace lab

namespace lab::grading {

/// Where the suite is, and the marks: the options that all commands of the judge share.
struct RubricOptions {
  std::string source = ".";
  std::string rubric;  ///< an instructor's file; empty: none

  void add_to(cli::App& app);
};

/// How far submissions are trusted, for the commands that run them.
struct PlaceOptions : RubricOptions {
  std::string build;  ///< empty: build/release below the source
  bool no_sandbox = false;
  bool require_sandbox = false;
  double wall_seconds = kMostWallSeconds;  ///< of one run or compilation, by the clock

  void add_to(cli::App& app);
  /// That make another process of this program work at the same place, in whichever folder.
  std::vector<std::string> arguments() const;
};

/// The lab's rubric in the suite's tree, overridden by an instructor's file unless its name is empty.
/// Errors    UsageError: as load_rubric() and with_overrides()
Rubric load_lab_rubric(const JudgedLab& lab, const std::string& root, const std::string& instructors_file);

/// The suite at work: rubrics, the builds of labs, the sandbox, the store of objects.
class JudgingPlace {
 public:
  /// Errors    UsageError: the suite was not found
  explicit JudgingPlace(const PlaceOptions& options);

  const std::string& root() const { return root_; }
  const std::string& build() const { return build_; }
  const Sandbox& sandbox() const { return sandbox_; }
  /// The lab's rubric, overridden by the instructor's file.
  Rubric rubric(const JudgedLab& lab) const;
  /// How the lab is built; read once.
  const BuildRecipe& recipe(const JudgedLab& lab) const;
  /// `accepted`: what submissions may use in addition to what is listed.
  StudentBuilder builder(const JudgedLab& lab, const AcceptedSymbols& accepted = AcceptedSymbols()) const;

 private:
  std::string root_, build_, rubric_;
  Sandbox sandbox_;
  ObjectStore store_;
  mutable std::map<std::string, BuildRecipe> recipes_;  ///< by the lab's folder
};

}  // namespace lab::grading
