#include "grading/marks/manual_marks.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using testing::a_manual;

Rubric manual_rubric() {
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.manuals = {a_manual("a9.schematic", 5, "drawing.png"), a_manual("a9.written_q1", 5, "answers.md"),
                    a_manual("a9.report", 0, "report.md")};
  return rubric;
}

std::vector<ManualMark> loaded(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder.file("manual.toml"), text);
  return load_manual_marks(folder.file("manual.toml"), manual_rubric());
}

/// The message about such a file, from its name on.
std::string refused(const std::string& text) {
  try {
    loaded(text);
  } catch (const UsageError& error) {
    const std::string message = error.what();
    const std::size_t name = message.find("manual.toml");
    return name == std::string::npos ? message : message.substr(name);
  }
  return "accepted";
}

TEST_CASE("manual marks: what a person wrote is read") {
  const auto marks = loaded(R"([[manual]]
id = "a9.schematic"
marks = 3.5
comment = "arrows without labels"
hand_in = "0f"

[[manual]]
id = "a9.written_q1"
comment = ""
hand_in = "nothing"

[[manual]]
id = "a9.report"
marks = 1
hand_in = "nothing"
)");
  REQUIRE(marks.size() == 2);  // one has not been looked at yet
  CHECK(marks[0].id == "a9.schematic");
  CHECK(marks[0].marks == 3.5);
  CHECK(marks[0].comment == "arrows without labels");
  CHECK(marks[0].hand_in == "0f");
  CHECK(marks[1].id == "a9.report");
}

TEST_CASE("manual marks: without a file there are none") {
  CHECK(load_manual_marks("/nonexistent/manual.toml", manual_rubric()).empty());
  CHECK(loaded("").empty());
}

TEST_CASE("manual marks: what is wrong is said") {
  const auto entry = [](const std::string& id, const std::string& rest) {
    return "[[manual]]\nid = \"" + id + "\"\n" + rest + "\nhand_in = \"0f\"\n";
  };
  CHECK(refused(entry("a9.schemtic", "marks = 1")) ==
        "manual.toml:1: a9_collectives has no manual item 'a9.schemtic'; did you mean 'a9.schematic'?");
  CHECK(refused(entry("vae.pictures", "")) ==
        "manual.toml:1: a9_collectives has no manual item 'vae.pictures'; expected one of a9.schematic, "
        "a9.written_q1, a9.report");
  CHECK(refused(entry("a9.schematic", "marks = 5.5")) ==
        "manual.toml:1: 'a9.schematic' has 5.5 marks, expected 0 to 5");
  CHECK(refused(entry("a9.schematic", "marks = -1")) == "manual.toml:1: 'a9.schematic' has -1 marks, expected 0 to 5");
  CHECK(refused(entry("a9.schematic", "marks = nan")) == "manual.toml:3: marks: expected a number, got nan");
  CHECK(refused(entry("a9.report", "marks = 2")) == "manual.toml:1: 'a9.report' has 2 marks, expected 0 to 1");
  CHECK(refused(entry("a9.schematic", "marks = 1") + entry("a9.schematic", "")) ==
        "manual.toml:5: 'a9.schematic' is marked twice");
  CHECK(refused("[[manual]]\nid = \"a9.schematic\"\nmarks = 1\n") ==
        "manual.toml:1: hand_in: expected a string, got nothing");
  CHECK(refused(entry("a9.schematic", "mark = 1")).find("mark") != std::string::npos);
  CHECK(refused("[[manuals]]\n") != "accepted");
  CHECK(refused("[[manual]]\nmarks = 1\n") != "accepted");
  CHECK(refused(entry("a9.schematic", "marks = \"5\"")) != "accepted");
  CHECK(refused("not toml") != "accepted");
}

TEST_CASE("manual marks: the form has a student's own question, where each has another") {
  Rubric rubric = manual_rubric();
  rubric.manuals[1].question = "`{factor}` from {src}";
  rubric.manuals[1].numbers = {{"src", 1, 0, 3}, {"factor", 10, 2, 19}};
  LabOutcome outcome;
  outcome.student = "s1";
  const auto form = [&] {
    const TemporaryFolder folder;
    write_manual_form(folder.file("manual.toml"), rubric, compute_marks(rubric, outcome, {}));
    return read_bytes(folder.file("manual.toml"));
  };
  CHECK(form().find("# question") == std::string::npos);
  rubric.own_numbers = "a year";
  const QuestionNumbers own = read_numbers(rubric, rubric.manuals[1], "s1");
  CHECK(form().find("# question: " + question_with(rubric.manuals[1], own) + "\n") != std::string::npos);
  outcome.student.clear();
  CHECK(form().find("# question: `10` from 1 (the handout's: unknown whose it is)\n") != std::string::npos);
}

LabMarks some_marks() {
  LabMarks marks = compute_marks(manual_rubric(), LabOutcome(), {});
  // Nothing gets out of a comment.
  marks.items[1].attached = {"answers\n[[manual]]\nid = \"a9.schematic\"\nmarks = 5\n.md"};
  return marks;
}

TEST_CASE("manual form: it can be read at once, has no marks yet, and shows all that is needed") {
  const TemporaryFolder folder;
  const std::string path = folder.file("manual.toml");
  write_manual_form(path, manual_rubric(), some_marks());
  CHECK(load_manual_marks(path, manual_rubric()).empty());
  const std::string form = read_bytes(path);
  CHECK(form.find("id = \"a9.schematic\"\n# title: Title of a9.schematic\n# look for: what the grader looks for\n"
                  "# handed in: nothing\n# marks =  # 0 to 5\ncomment = \"\"\nhand_in = \"nothing\"\n") !=
        std::string::npos);
  CHECK(form.find("# handed in: answers [[manual]] id = \"a9.schematic\" marks = 5 .md\n") != std::string::npos);
  CHECK(form.find("# 1: met, 0: not met") != std::string::npos);
}

TEST_CASE("manual form: what a person has filled in is read, and survives the next grading") {
  const TemporaryFolder folder;
  const std::string path = folder.file("manual.toml");
  write_manual_form(path, manual_rubric(), some_marks());
  std::string form = read_bytes(path);
  const std::string empty = "# marks =  # 0 to 5";
  form.replace(form.find(empty), empty.size(), "marks = 4  # 0 to 5");
  write_bytes(path, form);
  write_manual_form(path, manual_rubric(), some_marks());
  CHECK(read_bytes(path) == form);
  const auto marks = load_manual_marks(path, manual_rubric());
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].marks == 4);
}

/// A grading of these answers, with the marks in the file.
LabMarks graded(const std::string& path, const std::map<std::string, std::string>& answers) {
  LabOutcome outcome;
  outcome.answers = answers;
  const LabMarks marks = compute_marks(manual_rubric(), outcome, load_manual_marks(path, manual_rubric()));
  write_manual_form(path, manual_rubric(), marks);
  return marks;
}

/// A person gives 4 marks to the last entry of the item.
void mark_last_entry(const std::string& path, const std::string& id) {
  std::string form = read_bytes(path);
  const std::size_t entry = form.rfind("id = \"" + id + "\""), line = form.find("# marks =  #", entry);
  REQUIRE(line != std::string::npos);
  write_bytes(path, form.replace(line, 12, "marks = 4  #"));
}

TEST_CASE(
    "manual marks: they are for what was marked; where that changes, the item is pending again, and none is lost") {
  const TemporaryFolder folder;
  const std::string path = folder.file("manual.toml");
  CHECK(graded(path, {{"answers.md", "one"}, {"drawing.png", "a"}}).pending == 10);
  mark_last_entry(path, "a9.written_q1");
  CHECK(graded(path, {{"answers.md", "one"}, {"drawing.png", "a"}}).marks == 4);
  const std::string marked = read_bytes(path);

  // The other file changes: its item has no marks to lose, and this item keeps its marks.
  CHECK(graded(path, {{"answers.md", "one"}, {"drawing.png", "b"}}).marks == 4);
  // The marked file changes.
  const LabMarks changed = graded(path, {{"answers.md", "two"}, {"drawing.png", "b"}});
  CHECK(changed.marks == 0);
  CHECK(changed.pending == 10);
  const MarkedItem item = testing::item_named(changed, "a9.written_q1");
  CHECK(item.marked_before);
  CHECK(item.findings.back() == "an earlier version of it, which has changed since, was given 4 of 5");
  CHECK(read_bytes(path).compare(0, marked.size(), marked) == 0);
  CHECK(read_bytes(path).find("# before: an earlier version of it, which has changed since, was given 4 of 5") !=
        std::string::npos);
  const std::string pending = read_bytes(path);
  graded(path, {{"answers.md", "two"}, {"drawing.png", "b"}});
  CHECK(read_bytes(path) == pending);  // once

  mark_last_entry(path, "a9.written_q1");
  CHECK(graded(path, {{"answers.md", "two"}, {"drawing.png", "b"}}).marks == 4);
  CHECK(graded(path, {{"answers.md", "one"}, {"drawing.png", "b"}}).marks == 4);  // the first hand-in once more
  // It is withdrawn: 0, and both marks stay in the file.
  CHECK(graded(path, {{"drawing.png", "b"}}).marks == 0);
  CHECK(load_manual_marks(path, manual_rubric()).size() == 2);
}

TEST_CASE("manual marks: code in an answer is not what a person marked") {
  Rubric rubric = manual_rubric();
  const RubricManual& words = rubric.manuals[1];
  const auto version = [&](const std::string& text) { return find_version(rubric, words, {{"answers.md", text}}); };
  const std::string one = "words\n```cpp student/a.cpp\nint x;\n```\n", other = "words\n```cpp student/a.cpp\n```\n";
  CHECK(version(one) != version(other));
  rubric.hand_in.snippets_in = "answers.md";
  CHECK(version(one) == version(other));
  CHECK(version(one) != version("other " + one));
  CHECK(find_version(rubric, words, {}) == "nothing");
}

TEST_CASE("manual form: none where a person has nothing to mark") {
  const TemporaryFolder folder;
  write_manual_form(folder.file("manual.toml"), Rubric{}, {});
  CHECK(folder.num_files() == 0);
}

}  // namespace
}  // namespace lab::grading
