#include "common/course/archive.h"
#include "common/course/hand_in.h"
#include "common/course/hand_in_names.h"
#include "common/course/snippets.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/plain_test.h"
#include "common/testing/sentence_of.h"

namespace lab {
namespace {

using testing::contains;
using testing::SampleTree;

/// A starter whose student has done everything.
void complete(const SampleTree& sample) {
  sample.hand_out();
  sample.write("a0_pipes/answers.md", "# Answers\nForty-two.\n");
  sample.write("a0_pipes/a0_pipes.log", "log\n");
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  return text;
}

TEST_CASE("a complete hand-in is packed, exactly what is asked for") {
  const SampleTree sample;
  complete(sample);
  sample.write("a0_pipes/curves.png", "png");
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  const HandIn hand_in = collect_hand_in(tree, lab);
  CHECK(joined(hand_in.problems).empty());
  CHECK(joined(hand_in.warnings).empty());
  CHECK(write_hand_in(tree, lab, hand_in) == std::vector<std::string>{"submission/a0_pipes.zip"});
  std::vector<std::string> names;
  for (const auto& [name, bytes] : read_archive(sample.path("submission/a0_pipes.zip")).files) names.push_back(name);
  CHECK(names == std::vector<std::string>{"a0_pipes/a0_pipes.log", "a0_pipes/answers.md", "a0_pipes/curves.png",
                                          "a0_pipes/student/pipes/pipe.cpp", "a0_pipes/student/pipes/valve.cpp",
                                          "a0_pipes/student/tap.cpp"});
}

TEST_CASE("what is missing or untouched is a problem each") {
  const SampleTree sample;
  sample.hand_out();
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  sample.write("a0_pipes/answers.md", sample.read("a0_pipes/answers.template.md"));
  std::filesystem::remove(sample.path("a0_pipes/student/tap.cpp"));
  CHECK(joined(collect_hand_in(tree, lab).problems) ==
        "a0_pipes/student/tap.cpp is missing; hint: .lab-pristine/ has it as it was handed out\n"
        "a0_pipes/answers.md is still the untouched template\n"
        "a0_pipes/a0_pipes.log is missing; a run leaves it: one run on 4 ranks\n");
  std::filesystem::remove(sample.path("a0_pipes/answers.md"));
  CHECK(contains(joined(collect_hand_in(tree, lab).problems),
                 "a0_pipes/answers.md is missing; hint: cp a0_pipes/answers.template.md a0_pipes/answers.md, and"));
  sample.write("a0_pipes/curves.png", "in its place");
  CHECK_FALSE(contains(joined(collect_hand_in(tree, lab).problems), "answers.md is missing"));
}

TEST_CASE("a picture that an answer shows must be there") {
  const SampleTree sample;
  complete(sample);
  sample.write("a0_pipes/answers.md", "![a](curves.png) ![b](https://x.org/y.png) ![c](other.png)\n");
  sample.write("a0_pipes/other.png", "png");
  const CourseTree tree = sample.load();
  const HandIn hand_in = collect_hand_in(tree, tree.labs().front());
  CHECK(joined(hand_in.problems) == "a0_pipes/answers.md shows curves.png, which is not there\n");
  CHECK(contains(joined(hand_in.warnings),
                 "answers.md shows other.png, which is not handed in; expected one of: curves"));
}

TEST_CASE("what surprises when it is graded is said") {
  const SampleTree sample;
  complete(sample);
  sample.write("a0_pipes/student/helper.h", "int help();\n");
  sample.write("a0_pipes/student/tap.cpp",
               "#include \"a0_pipes/student/helper.h\"\n#include \"a0_pipes/pipe.h\"\n# include <vector>\n");
  sample.write("a0_pipes/student/pipes/pipe.cpp", "#include \"../helper.h\"\n");
  sample.write("a0_pipes/pipe.h", "int pipe(int changed);\n");
  const CourseTree tree = sample.load();
  CHECK(
      joined(collect_hand_in(tree, tree.labs().front()).warnings) ==
      "not handed in, as the assignment does not ask for it: a0_pipes/student/helper.h\n"
      "provided and changed; it is graded as it was handed out: a0_pipes/pipe.h\n"
      "a0_pipes/student/pipes/pipe.cpp includes a0_pipes/student/helper.h, which is not handed in: it will not compile "
      "when it is graded\n"
      "a0_pipes/student/tap.cpp includes a0_pipes/student/helper.h, which is not handed in: it will not compile when "
      "it "
      "is graded\n");
}

TEST_CASE("a run is needed where its results are missing or older than the student's files") {
  const SampleTree sample;
  sample.hand_out();
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  CHECK(needs_run(tree, lab));
  sample.write("run/a0_pipes.log", "of the run\n");
  sample.write("run/answers.md", "not a result\n");
  sample.write("run/curves.png", "png\n");
  CHECK(take_results(tree, lab, sample.path("run")) ==
        std::vector<std::string>{"a0_pipes/a0_pipes.log", "a0_pipes/curves.png"});
  CHECK_FALSE(sample.has("a0_pipes/answers.md"));
  sample.make_later("a0_pipes/a0_pipes.log", 10);
  sample.make_later("a0_pipes/curves.png", 10);
  CHECK_FALSE(needs_run(tree, lab));
  // One's own log of a cluster stays while it is newer than the code; then it is replaced, and kept.
  sample.write("a0_pipes/a0_pipes.log", "of a cluster\n");
  sample.make_later("a0_pipes/a0_pipes.log", 10);
  CHECK(take_results(tree, lab, sample.path("run")).empty());
  sample.make_later("a0_pipes/student/tap.cpp", 20);
  CHECK(needs_run(tree, lab));
  CHECK(take_results(tree, lab, sample.path("run")).size() == 2);
  CHECK(sample.read("a0_pipes/a0_pipes.log") == "of the run\n");
  CHECK(sample.read(".lab-backup/a0_pipes/a0_pipes.log") == "of a cluster\n");
  Rubric without_run = lab;
  without_run.hand_in.run = "none: the checks are run again";
  CHECK_FALSE(needs_run(tree, without_run));
}

TEST_CASE("one markdown: the sources stand in the answer") {
  const SampleTree sample;
  complete(sample);
  sample.write("a0_pipes/answers.md", "# Answers\n\n```cpp student/tap.cpp\n```\n");
  sample.write("a0_pipes/curves.png", "png");
  const CourseTree tree = sample.load();
  Rubric lab = tree.labs().front();
  lab.hand_in.snippets_in = "answers.md";
  lab.hand_in.answers = {"answers.md"};
  const HandIn hand_in = collect_hand_in(tree, lab);
  CHECK(joined(hand_in.problems).empty());
  CHECK(hand_in.files.size() == 2);
  const auto snippets = snippets_of(hand_in.files.at("answers.md"), "answers.md");
  CHECK(snippets.size() == 3);
  CHECK(snippets.at("student/tap.cpp") == sample.read("a0_pipes/student/tap.cpp"));
  CHECK(write_hand_in(tree, lab, hand_in) ==
        std::vector<std::string>{"submission/answers.md", "submission/curves.png"});
  CHECK(contains(sample.read("a0_pipes/answers.md"), "```cpp student/tap.cpp\n```"));  // the student's own is as it was
}

TEST_CASE("names of templates and pictures") {
  CHECK(template_of("written.md") == "written.template.md");
  CHECK(template_of("a/b.log") == "a/b.template.log");
  CHECK(pictures_in("![a](x.png)\n![b](y.png \"title\") [no](z.png) ![c](/abs.png) ![d](../up.png) ![x](x.png)") ==
        std::vector<std::string>{"x.png", "y.png"});
}

}  // namespace
}  // namespace lab
