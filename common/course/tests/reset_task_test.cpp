#include "common/course/starter/reset_task.h"

#include <cstdlib>

#include "common/course/starter/markers.h"
#include "common/course/student_files.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;
using testing::get_message;
using testing::read_bytes;
using testing::SampleTree;

const std::string kPristine = testing::kSampleValve;
const char* const kValveFile = "a0_pipes/student/pipes/valve.cpp";

/// The text with both tasks solved; the provided lines are untouched.
std::string solved() {
  return R"(#include "a0_pipes/valve.h"

int open_valve(int pressure) {
  if (pressure > 3) {
    return 1;
  }
  return 2;
}

int close_valve(int pressure) {
  return pressure;
}
)";
}

std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

TEST_CASE("one task's TODO comes back, the other's work stays") {
  const std::string valve_again =
      replaced(solved(), "  if (pressure > 3) {\n    return 1;\n  }\n  return 2;\n",
               "  // TODO(a0.valve): open it.\n  not_implemented(\"a0.valve\", pressure);\n");
  CHECK(with_stub_again(kPristine, solved(), "a0.valve") == valve_again);
  // Provided lines after a TODO, up to the closing brace, belong to it.
  CHECK(with_stub_again(kPristine, solved(), "a0.tap") ==
        replaced(solved(), "  return pressure;\n",
                 "  // TODO(a0.tap): close it.\n  not_implemented(\"a0.tap\", pressure);\n  return 0;\n"));
  CHECK(with_stub_again(kPristine, valve_again, "a0.tap") != std::nullopt);
  CHECK(with_stub_again(kPristine, kPristine, "a0.valve") == kPristine);
  CHECK(todos_in(kPristine) == std::vector<std::string>{"a0.valve", "a0.tap"});
}

TEST_CASE("a TODO outside all blocks ends at the first empty line") {
  const std::string pristine = "// TODO(a0.pump): functions\n// that help fit here.\n\n" + kPristine;
  const std::string with_functions = "int twice(int x) {\n  return 2 * x;\n}\n\nint half(int x) {\n  return x / 2;\n}\n\n";
  CHECK(with_stub_again(pristine, with_functions + kPristine, "a0.pump") == pristine);
  const auto other = with_stub_again(pristine, with_functions + solved(), "a0.tap");
  REQUIRE(other);
  CHECK(contains(*other, with_functions));
  CHECK(contains(*other, "TODO(a0.tap)"));
}

TEST_CASE("where the provided lines were changed, or stand there twice, nothing is guessed") {
  CHECK_FALSE(
      with_stub_again(kPristine, replaced(solved(), "int close_valve(int pressure)", "int close(int p)"), "a0.valve"));
  CHECK_FALSE(with_stub_again(kPristine, "#include <vector>\n" + solved(), "a0.valve"));
  CHECK_FALSE(with_stub_again(kPristine, solved() + "// more\n", "a0.valve"));
  CHECK_FALSE(with_stub_again(
      kPristine, replaced(solved(), "  return 2;\n", "  return 2;\n}\n\nint close_valve(int pressure) {\n"),
      "a0.valve"));
  CHECK_FALSE(with_stub_again(kPristine, "", "a0.valve"));
}

TEST_CASE("in the labs' own files, a solved task's TODO comes back exactly, or nothing is done") {
  const char* const source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  const CourseTree tree = CourseTree::load(source_dir);
  std::vector<std::string> undecided;
  for (const Rubric& lab : tree.labs()) {
    for (const std::string& file : student_files(tree, lab)) {
      const auto parts = parse_solution_markers(read_bytes(tree.get_folder(lab) + "/" + file));
      const std::string pristine = join_starter(parts);
      for (const std::string& task : todos_in(pristine)) {
        std::string all_solved, wanted;
        for (const SourcePart& part : parts) {
          for (const std::string& line : part.lines) all_solved += line;
          for (const std::string& line : part.task == task ? part.stub : part.lines) wanted += line;
        }
        const auto found = with_stub_again(pristine, all_solved, task);
        if (!found) undecided.push_back(task);
        if (found) CHECK_MESSAGE(*found == wanted, file, ": ", task);
      }
    }
  }
  CHECK(undecided == std::vector<std::string>{});
}

TEST_CASE("in a starter: the TODO is back, the student's version is kept") {
  const SampleTree sample;
  sample.hand_out();
  const CourseTree tree = sample.load();
  sample.write(kValveFile, solved());
  const auto messages = reset_task(tree, tree.task_named("valve"), false);
  CHECK(messages ==
        std::vector<std::string>{"a0_pipes/student/pipes/valve.cpp: its TODO is back; the rest of the file is "
                                 "as it was; your version: .lab-backup/a0_pipes/student/pipes/valve.cpp"});
  CHECK(contains(sample.read(kValveFile), "TODO(a0.valve)"));
  CHECK(contains(sample.read(kValveFile), "return pressure;"));
  CHECK(sample.read(".lab-backup/" + std::string(kValveFile)) == solved());
  // Once more: nothing to do, and no second copy.
  CHECK(contains(reset_task(tree, tree.task_named("valve"), false).at(0), "nothing to do"));
  CHECK_FALSE(sample.has(".lab-backup/" + std::string(kValveFile) + ".2"));
  // Another version is another copy.
  sample.write(kValveFile, solved() + "// more\n");
  reset_task(tree, tree.task_named("valve"), true);
  CHECK(sample.read(".lab-backup/" + std::string(kValveFile) + ".2") == solved() + "// more\n");
}

TEST_CASE("a whole file goes back only if no other task is in it, or with --all") {
  const SampleTree sample;
  sample.hand_out();
  const CourseTree tree = sample.load();
  const std::string changed = "// mine\n" + solved();
  sample.write(kValveFile, changed);
  CHECK(contains(get_message([&] { reset_task(tree, tree.task_named("valve"), false); }),
                 "only the whole file can be put back, and it holds a0.tap as well; with --all that is done"));
  CHECK(sample.read(kValveFile) == changed);
  CHECK(contains(reset_task(tree, tree.task_named("valve"), true).at(0), "the whole file is back"));
  CHECK(sample.read(kValveFile) == kPristine);
  sample.write("a0_pipes/student/pipes/pipe.cpp", "all mine\n");
  CHECK(contains(reset_task(tree, tree.task_named("pipe"), false).at(0), "the whole file is back"));
  CHECK(sample.read(".lab-backup/a0_pipes/student/pipes/pipe.cpp") == "all mine\n");
  std::filesystem::remove(sample.path(kValveFile));
  reset_task(tree, tree.task_named("valve"), false);
  CHECK(sample.read(kValveFile) == kPristine);
}

TEST_CASE("a file with markers has its own stubs") {
  const SampleTree sample;
  const CourseTree tree = sample.load();
  const std::string marked =
      "int a;\n// BEGIN SOLUTION a0.pipe\n// STUB // TODO(a0.pipe): lay it.\nsolved;\n// END SOLUTION a0.pipe\n"
      "// BEGIN SOLUTION a0.tap\n// STUB // TODO(a0.tap)\nkept;\n// END SOLUTION a0.tap\n";
  sample.write("a0_pipes/student/pipes/pipe.cpp", marked);
  reset_task(tree, tree.task_named("pipe"), false);
  CHECK(sample.read("a0_pipes/student/pipes/pipe.cpp") ==
        "int a;\n// TODO(a0.pipe): lay it.\n"
        "// BEGIN SOLUTION a0.tap\n// STUB // TODO(a0.tap)\nkept;\n// END SOLUTION a0.tap\n");
  CHECK(sample.read(".lab-backup/a0_pipes/student/pipes/pipe.cpp") == marked);
}

TEST_CASE("a task without a TODO of its own is refused, and those of its file are named") {
  const SampleTree sample;
  sample.write("a0_pipes/student/tap.cpp", "// TODO(a0.pipe)\n");
  sample.write("a0_pipes/student/pipes/valve.cpp", "// provided\n");
  sample.hand_out();
  const CourseTree tree = sample.load();
  CHECK(get_message([&] { reset_task(tree, tree.task_named("tap"), false); }) ==
        "a0.tap has no TODO of its own to put back in a0_pipes/student/tap.cpp; the file has those of a0.pipe");
}

}  // namespace
}  // namespace lab
