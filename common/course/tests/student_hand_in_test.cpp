#include "common/course/hand_in/archive.h"
#include "common/course/hand_in/hand_in.h"
#include "common/course/hand_in/hand_in_names.h"
#include "common/course/hand_in/identity.h"
#include "common/course/starter/answer_template.h"
#include "common/course/starter/snippets.h"
#include "common/course/tests/sample_tree.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;
using testing::SampleTree;

/// A starter whose student has done everything.
void complete(const SampleTree& sample) {
  sample.hand_out();
  sample.write("a0_pipes/answers.md", "# Answers\nIt is forty-two.\n");
  sample.write("a0_pipes/a0_pipes.log", "log\n");
  sample.write("a0_pipes/student/pipes/valve.cpp", "int open_valve(int pressure) { return pressure; }\n");
}

std::string joined(const std::vector<std::string>& messages) {
  std::string text;
  for (const std::string& message : messages) text += message + "\n";
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

TEST_CASE("what is missing or untouched is a problem each, with what it costs") {
  const SampleTree sample;
  sample.hand_out();
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  sample.write("a0_pipes/answers.md", sample.read("a0_pipes/answers.template.md"));
  std::filesystem::remove(sample.path("a0_pipes/student/tap.cpp"));
  CHECK(joined(collect_hand_in(tree, lab).problems) ==
        "a0_pipes/student/tap.cpp is missing, which costs up to 2 bonus marks; hint: .lab-pristine/ has it as it was "
        "handed out\n"
        "a0_pipes/student/pipes/valve.cpp:5: a0.valve is still a TODO, which costs up to 3 marks\n"
        "a0_pipes/answers.md is still the untouched template, which costs up to 3 marks\n"
        "a0_pipes/a0_pipes.log is missing, which costs no marks by itself; a run leaves it: one run on 4 ranks\n");
  std::filesystem::remove(sample.path("a0_pipes/answers.md"));
  CHECK(contains(joined(collect_hand_in(tree, lab).problems),
                 "a0_pipes/answers.md is missing, which costs up to 3 marks; hint: cp a0_pipes/answers.template.md "
                 "a0_pipes/answers.md, and"));
}

TEST_CASE("a TODO is a problem with what it costs; one that costs no marks is told") {
  const SampleTree sample;
  complete(sample);
  sample.write("a0_pipes/student/pipes/valve.cpp",
               "int open_valve() {\n  // not_implemented(\"a0.valve\"): no more\n  return 1;\n}\n"
               "int close_valve() {\n  not_implemented(\"a0.valve\", 2);\n}\n");
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  CHECK(joined(collect_hand_in(tree, lab).problems) ==
        "a0_pipes/student/pipes/valve.cpp:6: a0.valve is still a TODO, which costs up to 3 marks\n");
  CHECK(joined(collect_hand_in(tree, lab).warnings).empty());
  complete(sample);
  sample.write("a0_pipes/student/tap.cpp", "int tap() {\n  not_implemented(\"a0.tap\");\n}\n");
  CHECK(joined(collect_hand_in(tree, lab).problems).empty());
  CHECK(joined(collect_hand_in(tree, lab).warnings) ==
        "a0_pipes/student/tap.cpp:2: a0.tap is still a TODO, which costs up to 2 bonus marks\n");
}

TEST_CASE("the log of a run that was not right is a problem, except where it lacks optional tasks") {
  const SampleTree sample;
  sample.write("a0_pipes/expected_log.txt", "run\nranks 2,4\nall | text | [Rank {rank}] done\n");
  complete(sample);
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  sample.write("a0_pipes/a0_pipes.log", "[Rank 0] done\n[Rank 2] done\n[Rank 1] done\n");
  const std::string message = joined(collect_hand_in(tree, lab).problems);
  CHECK(contains(message,
                 "a0_pipes/a0_pipes.log is not the log of a right run on 4 ranks, which costs no marks by "
                 "itself: "));
  CHECK(contains(message, "rank 3"));
  sample.write("a0_pipes/student/tap.cpp", "int tap() {\n  not_implemented(\"a0.tap\");\n}\n");
  CHECK(joined(collect_hand_in(tree, lab).problems).empty());
  CHECK(contains(joined(collect_hand_in(tree, lab).warnings), "is not the log of a right run on 4 ranks: "));
  sample.write("a0_pipes/a0_pipes.log", "[Rank 0] done\r\n[Rank 2] done\n[Rank 1] done\n[Rank 3] done\n");
  CHECK(joined(collect_hand_in(tree, lab).warnings) ==
        "a0_pipes/student/tap.cpp:2: a0.tap is still a TODO, which costs up to 2 bonus marks\n");
  sample.write("a0_pipes/a0_pipes.log", std::string("\x7F"
                                                    "ELF\0",
                                                    5));
  CHECK(contains(joined(collect_hand_in(tree, lab).problems), "a0_pipes.log is not text"));
}

TEST_CASE("a template with a letter typed is still untouched") {
  const SampleTree sample;
  complete(sample);
  const CourseTree tree = sample.load();
  const Rubric& lab = tree.labs().front();
  sample.write("a0_pipes/answers.md", sample.read("a0_pipes/answers.template.md") + "x\n");
  CHECK(contains(joined(collect_hand_in(tree, lab).problems), "a0_pipes/answers.md is still the untouched template"));
  sample.write("a0_pipes/answers.md", sample.read("a0_pipes/answers.template.md") + "it is forty-two\n");
  CHECK(joined(collect_hand_in(tree, lab).problems).empty());
}

TEST_CASE("a sketch that goes with an answer does not stand in for it; another kind of the same file does") {
  const SampleTree sample;
  complete(sample);
  std::filesystem::remove(sample.path("a0_pipes/answers.md"));
  sample.write("a0_pipes/curves.png", "a picture that goes with the answers");
  const CourseTree tree = sample.load();
  CHECK(contains(joined(collect_hand_in(tree, tree.labs().front()).problems), "answers.md is missing"));
  Rubric lab = tree.labs().front();
  lab.manuals.front().also = {"curves.png", "answers.pdf"};
  sample.write("a0_pipes/answers.pdf", "the same as a PDF");
  CHECK(joined(collect_hand_in(tree, lab).problems).empty());
}

TEST_CASE("text in another encoding is handed in as UTF-8, and that is said") {
  const SampleTree sample;
  complete(sample);
  sample.write("a0_pipes/student/tap.cpp", "// na\xEFve\nint tap() { return 1; }\n");
  sample.write("a0_pipes/curves.png", "\x89PNG \xEF");
  const CourseTree tree = sample.load();
  HandIn hand_in = collect_hand_in(tree, tree.labs().front());
  CHECK(joined(hand_in.problems).empty());
  CHECK(joined(hand_in.warnings) == "a0_pipes/student/tap.cpp is Latin-1; it is handed in as UTF-8\n");
  CHECK(hand_in.files.at("student/tap.cpp") == "// na\xC3\xAFve\nint tap() { return 1; }\n");
  CHECK(hand_in.files.at("curves.png") == "\x89PNG \xEF");  // not text by its name
  sample.write("a0_pipes/student/tap.cpp", std::string("\x7F"
                                                       "ELF\0",
                                                       5));
  hand_in = collect_hand_in(tree, tree.labs().front());
  CHECK(joined(hand_in.problems) == "a0_pipes/student/tap.cpp is not text, which costs up to 2 bonus marks\n");
}

TEST_CASE("the hand-in says whose it is, where the tree knows") {
  const SampleTree sample;
  complete(sample);
  const CourseTree tree = sample.load();
  Rubric lab = tree.labs().front();
  const auto zip = [&] {
    write_hand_in(tree, lab, collect_hand_in(tree, lab));
    return read_archive(sample.path("submission/a0_pipes.zip")).files;
  };
  CHECK(zip().count("identity.toml") == 0);
  save_identity(tree.root(), {"Ada", "s1"});
  CHECK(zip().at("identity.toml") == "name = \"Ada\"\nid = \"s1\"\n");
  lab.hand_in.snippets_in = "answers.md";
  write_hand_in(tree, lab, collect_hand_in(tree, lab));
  const SignedMarkdown answers = split_identity(sample.read("submission/answers.md"));
  REQUIRE(answers.identity);
  CHECK(parse_identity(*answers.identity, "answers.md").id == "s1");
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
  // A run on a cluster leaves its log in the root.
  std::filesystem::rename(sample.path("a0_pipes/a0_pipes.log"), sample.path("a0_pipes.log"));
  CHECK_FALSE(needs_run(tree, lab));
  CHECK(take_results(tree, lab, sample.root()) == std::vector<std::string>{"a0_pipes/a0_pipes.log"});
  sample.make_later("a0_pipes.log", -20);
  std::filesystem::remove(sample.path("a0_pipes/a0_pipes.log"));
  CHECK(needs_run(tree, lab));  // it is older than the code
  CHECK(take_results(tree, lab, sample.root()).empty());
  // The student's own log from a cluster stays while it is newer than the code; then it is replaced, and kept.
  sample.write("a0_pipes/a0_pipes.log", "of a cluster\n");
  sample.make_later("a0_pipes/a0_pipes.log", 10);
  CHECK(take_results(tree, lab, sample.path("run")).empty());
  sample.make_later("a0_pipes/student/tap.cpp", 20);
  CHECK(needs_run(tree, lab));
  CHECK(take_results(tree, lab, sample.path("run")).empty());
  sample.make_later("run/a0_pipes.log", 30);
  sample.make_later("run/curves.png", 30);
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
  sample.write("a0_pipes/answers.md", "# Answers\nIt is forty-two.\n\n```cpp student/tap.cpp\n```\n");
  sample.write("a0_pipes/curves.png", "png");
  const CourseTree tree = sample.load();
  Rubric lab = tree.labs().front();
  lab.hand_in.snippets_in = "answers.md";
  lab.hand_in.answers = {"answers.md"};
  const HandIn hand_in = collect_hand_in(tree, lab);
  CHECK(joined(hand_in.problems).empty());
  CHECK(hand_in.files.size() == 2);
  const auto snippets = find_snippets(hand_in.files.at("answers.md"), "answers.md");
  CHECK(snippets.size() == 3);
  CHECK(snippets.at("student/tap.cpp") == sample.read("a0_pipes/student/tap.cpp"));
  CHECK(write_hand_in(tree, lab, hand_in) ==
        std::vector<std::string>{"submission/answers.md", "submission/curves.png"});
  CHECK(contains(sample.read("a0_pipes/answers.md"), "```cpp student/tap.cpp\n```"));  // the student's is unchanged
}

TEST_CASE("one markdown that is missing: the code is handed in all the same, in its template") {
  const SampleTree sample;
  sample.hand_out();
  const CourseTree tree = sample.load();
  Rubric lab = tree.labs().front();
  lab.hand_in.snippets_in = "answers.md";
  lab.hand_in.answers = {"answers.md"};
  const HandIn hand_in = collect_hand_in(tree, lab);
  CHECK(contains(joined(hand_in.problems), "a0_pipes/answers.md is missing, which costs up to 3 marks"));
  REQUIRE(hand_in.files.count("answers.md") == 1);
  const std::string& answer = hand_in.files.at("answers.md");
  CHECK(find_snippets(answer, "answers.md").size() == 3);
  CHECK(is_untouched(answer, sample.read("a0_pipes/answers.template.md")));
  CHECK(hand_in.files.size() == 1);
  std::filesystem::remove(sample.path("a0_pipes/answers.template.md"));
  CHECK(find_snippets(collect_hand_in(tree, lab).files.at("answers.md"), "answers.md").size() == 3);
}

TEST_CASE("names of pictures") {
  CHECK(pictures_in("![a](x.png)\n![b](y.png \"title\") [no](z.png) ![c](/abs.png) ![d](../up.png) ![x](x.png)") ==
        std::vector<std::string>{"x.png", "y.png"});
}

}  // namespace
}  // namespace lab
