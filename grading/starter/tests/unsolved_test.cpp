#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/compile/build_recipe.h"
#include "grading/compile/object_store.h"
#include "grading/compile/student_build.h"
#include "grading/sandbox/sandbox.h"
#include "grading/starter/tests/source_tree.h"

// A starter's student files build without a warning, and every task of it ends with exit code 3 and its own name. The
// rest of the program comes from this tree's own build: a starter has the same files.
namespace lab::grading {
namespace {

/// The longest that a student waits until a TODO is named. Under the sanitizers everything takes longer.
#ifdef __SANITIZE_ADDRESS__
constexpr double kLimitSeconds = 60;
#else
constexpr double kLimitSeconds = 5;
#endif
constexpr double kLimitOfAllSeconds = 60;

std::string build_folder() {
  const char* folder = std::getenv("LAB_BIN_DIR");
  REQUIRE_MESSAGE(folder != nullptr, "LAB_BIN_DIR: where the binaries are");
  return std::filesystem::path(folder).parent_path().string();
}

/// The lab's program with a starter's student files; warnings are errors.
class UnsolvedLab {
 public:
  explicit UnsolvedLab(const std::string& lab)
      : rubric_(load_rubric(source_dir() + "/" + lab + "/rubric.toml")),
        sandbox_(Sandbox::detect(false)),
        store_(build_folder() + "/starter_objects", sandbox_) {
    BuildRecipe recipe = load_build_recipe(source_dir(), build_folder(), lab, kProgramFolder);
    for (StudentSource& source : recipe.sources) source.compile.emplace_back("-Werror");
    std::map<std::string, std::string> texts;
    for (const auto& [path, file] : derive_starter(source_dir(), {lab})) {
      if (is_student_file(path)) texts[path.substr(lab.size() + 1)] = file.bytes;
    }
    REQUIRE(texts.size() == recipe.sources.size());
    built_ = StudentBuilder(recipe, store_, sandbox_).build(texts);
  }

  const Rubric& rubric() const { return rubric_; }
  const StudentBuild& built() const { return built_; }

  /// What `check` prints for the task, or for all tasks, and how it ended.
  nlohmann::json check(const std::string& task, int expected_code) const {
    const testing::TemporaryFolder folder;
    ProcessSpec check;
    check.argv = {built_.program, "check", "--json", folder.file("check.json")};
    if (!task.empty()) check.argv.insert(check.argv.begin() + 2, task);
    const ProgramEnd end = run_program(check, task.empty() ? kLimitOfAllSeconds : kLimitSeconds);
    INFO(task << " " << end.message());
    CHECK_FALSE(end.timed_out);
    CHECK(exit_code_of_status(end.status) == expected_code);
    return nlohmann::json::parse(testing::read_bytes(folder.file("check.json")), nullptr, false);
  }

  /// The task, and those that it builds on, whose TODO it may reach first.
  std::set<std::string> may_stop_at(const std::string& task) const {
    std::set<std::string> tasks = {task};
    for (const RubricTask& other : rubric_.tasks) {
      const std::vector<std::string> dependents = rubric_.find_dependents(other.id);
      if (std::find(dependents.begin(), dependents.end(), task) != dependents.end()) tasks.insert(other.id);
    }
    return tasks;
  }

 private:
  Rubric rubric_;
  Sandbox sandbox_;
  ObjectStore store_;
  StudentBuild built_;
};

void check_unsolved(const UnsolvedLab& lab, const nlohmann::json& verdict) {
  const std::string task = verdict.value("task", ""), message = verdict.value("message", "");
  CAPTURE(task);
  CAPTURE(message);
  CHECK_FALSE(verdict.value("passed", true));
  CHECK(verdict.value("exit_code", 0) == static_cast<int>(ExitCode::kNotImplemented));
  const std::string todo = "stops at TODO(";
  const std::size_t at = message.find(todo);
  REQUIRE(at != std::string::npos);
  const std::string met = message.substr(at + todo.size(), message.find(')', at) - at - todo.size());
  CHECK_MESSAGE(lab.may_stop_at(task).count(met) == 1, met);
}

void check_lab(const std::string& name) {
  const UnsolvedLab lab(name);
  for (const auto& [file, reason] : lab.built().replaced) FAIL_CHECK(file << ": " << reason);
  REQUIRE_FALSE(lab.built().program.empty());
  const int not_implemented = static_cast<int>(ExitCode::kNotImplemented);
  for (const RubricTask& task : lab.rubric().tasks) {
    const nlohmann::json verdicts = lab.check(task.id, not_implemented);
    REQUIRE(verdicts.is_array());
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].value("task", "") == task.id);
    check_unsolved(lab, verdicts[0]);
  }
  // As in `lab test`: all at once.
  const nlohmann::json all = lab.check("", not_implemented);
  REQUIRE(all.is_array());
  CHECK(all.size() >= lab.rubric().tasks.size());
  for (const nlohmann::json& verdict : all) {
    // Further checks, such as those of provided parts, belong to no task of the rubric.
    if (lab.rubric().find_task(verdict.value("task", "")) != nullptr) check_unsolved(lab, verdict);
  }
}

TEST_CASE("every task of a4's starter is unsolved, and says so") {
  check_lab("a4_data_tensor");
}
TEST_CASE("every task of a5's starter is unsolved, and says so") {
  check_lab("a5_pipeline");
}
TEST_CASE("every task of a9's starter is unsolved, and says so") {
  check_lab("a9_collectives");
}
TEST_CASE("every task of vae's starter is unsolved, and says so") {
  check_lab("vae_sequence_parallel");
}
TEST_CASE("every task of optC's starter is unsolved, and says so") {
  check_lab("optC_model_parallel");
}

}  // namespace
}  // namespace lab::grading
