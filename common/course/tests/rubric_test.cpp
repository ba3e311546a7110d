#include "common/course/rubric/rubric.h"

#include <cstdlib>
#include <filesystem>

#include "common/course/rubric/rubric_check.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab {
namespace {

using testing::contains;
using testing::get_message;
using testing::TemporaryFolder;
using testing::write_bytes;

const char* const kRubric = R"(lab = "a0_pipes"
title = "Pipes"
total = 12
marks_source = "ours"
[hand_in]
sources = ["student/pipes", "student/tap.cpp"]
answers = ["answers.md"]
run = "none"
[judging]
ranks = [4, 2]
[[task]]
id = "a0.pipe"
title = "A pipe"
file = "student/pipes/pipe.cpp"
marks = 4
hints = ["one", "two", "three"]
[[task]]
id = "a0.valve"
title = "A valve"
file = "student/pipes/valve.cpp"
marks = 2
all_or_nothing = true
needs = ["a0.pipe"]
hints = ["one", "two", "three"]
[[task]]
id = "a0.tap"
title = "A tap"
file = "student/tap.cpp"
marks = 3
bonus = true
needs = ["a0.valve"]
stand_in = ["student/pipes"]
hints = ["one", "two", "three"]
[[manual]]
id = "a0.words"
title = "Words"
file = "answers.md"
marks = 6
look_for = "forty-two"
)";

/// The rubric with one text replaced by another.
std::string with(const std::string& before, const std::string& after) {
  std::string text = kRubric;
  const std::size_t at = text.find(before);
  REQUIRE_MESSAGE(at != std::string::npos, before);
  return text.replace(at, before.size(), after);
}

Rubric load(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder.file("rubric.toml"), text);
  return load_rubric(folder.file("rubric.toml"));
}

/// The problem with it, without the folder: "rubric.toml:11: ..."
std::string rubric_refusal(const std::string& text) {
  const std::string message = get_message([&] { load(text); });
  const std::size_t file = message.find("rubric.toml");
  return file == std::string::npos ? message : message.substr(file);
}

Rubric overridden(const Rubric& rubric, const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder.file("ours.toml"), text);
  return with_overrides(rubric, folder.file("ours.toml"), {"a0_pipes", "a9_collectives"});
}

std::string override_refusal(const std::string& text) {
  const std::string message = get_message([&] { overridden(load(kRubric), text); });
  const std::size_t file = message.find("ours.toml");
  return file == std::string::npos ? message : message.substr(file);
}

TEST_CASE("a rubric is read") {
  const Rubric rubric = load(kRubric);
  CHECK(rubric.lab == "a0_pipes");
  CHECK(rubric.judging.ranks == std::vector<int>{4, 2});
  CHECK(rubric.judging.stall_seconds == 10);
  REQUIRE(rubric.tasks.size() == 3);
  CHECK(rubric.find_task("a0.valve")->all_or_nothing);
  CHECK_FALSE(rubric.find_task("a0.pipe")->all_or_nothing);
  CHECK(rubric.find_task("a0.tap")->stand_in == std::vector<std::string>{"student/pipes"});
  CHECK(rubric.find_task("a0.nothing") == nullptr);
  CHECK(rubric.find_dependents("a0.pipe") == std::vector<std::string>{"a0.valve", "a0.tap"});
  CHECK(rubric.find_dependents("a0.tap").empty());
  CHECK(rubric.manuals.at(0).look_for == "forty-two");
  CHECK(load(with("look_for = \"forty-two\"\n", "")).manuals.at(0).look_for.empty());
}

TEST_CASE("a task with asked = false is given: no other item needs it, and its file is not handed in") {
  const std::string marks = "total = 12\n";
  std::string text = with("marks = 2\nall_or_nothing = true\n", "marks = 2\nasked = false\n");
  text.replace(text.find(marks), marks.size(), "total = 10\n");
  const Rubric shared = load(text);  // its file is in a folder that is handed in for another task
  CHECK(shared.find_task("a0.valve") == nullptr);
  REQUIRE(shared.given.size() == 1);
  CHECK(shared.given[0].id == "a0.valve");
  CHECK(shared.find_task("a0.tap")->needs.empty());
  CHECK(shared.find_task("a0.tap")->stand_in.empty());
  CHECK(shared.hand_in.sources == std::vector<std::string>{"student/pipes", "student/tap.cpp"});
  CHECK(load(with("bonus = true\n", "bonus = true\nasked = false\n")).hand_in.sources ==
        std::vector<std::string>{"student/pipes"});
  CHECK(contains(rubric_refusal(with("marks = 2\n", "marks = 2\nasked = false\n")), "total: expected 10, to which"));
  CHECK(contains(rubric_refusal(with("marks = 2\n", "marks = 2\nasked = \"no\"\n")), "asked: expected true or false"));
}

TEST_CASE("a written question's numbers") {
  const std::string item = "look_for = \"forty-two\"\n";
  const auto numbers = [&](const std::string& text) { return with(item, item + text); };
  const Rubric rubric =
      load("own_numbers = \"x\"\n" +
           numbers("question = \"{n} ranks\"\nnumbers = [{name = \"n\", handout = 4, from = 2, to = 8}]\n"));
  CHECK(rubric.own_numbers == "x");
  REQUIRE(rubric.manuals.at(0).numbers.size() == 1);
  CHECK(rubric.manuals[0].question == "{n} ranks");
  CHECK(rubric.manuals[0].numbers[0].handout == 4);
  CHECK(rubric.manuals[0].numbers[0].to == 8);
  CHECK(overridden(rubric, "[a0_pipes]\nown_numbers = \"y\"\n").own_numbers == "y");
  CHECK(overridden(rubric, "[a0_pipes]\n").own_numbers == "x");
  const auto refusal = [&](const std::string& text) { return rubric_refusal(numbers(text)); };
  CHECK(contains(refusal("numbers = [{name = \"n\", handout = 4, from = 2, to = 8}]\n"),
                 "numbers: expected {n} in its question"));
  CHECK(contains(refusal("question = \"{n}\"\nnumbers = [{name = \"n\", handout = 9, from = 2, to = 8}]\n"),
                 "numbers: 'n': expected from <= handout <= to, got 2, 9, 8"));
  CHECK(contains(refusal("question = \"{n}\"\nnumbers = [{name = \"n\", handout = 4.5, from = 2, to = 8}]\n"),
                 "handout: expected an integer"));
  CHECK(contains(refusal("question = \"{n}\"\nnumbers = [{name = \"n\", handout = 4, from = 2, to = 8},"
                         "{name = \"n\", handout = 4, from = 2, to = 8}]\n"),
                 "numbers: 'n' is there twice"));
  CHECK(contains(refusal("numbers = [{name = \"n\", handout = 4, from = 2}]\n"), "to: expected a number, got nothing"));
}

TEST_CASE("what is wrong with a rubric is said with its line") {
  CHECK(rubric_refusal(with("a0.valve\"", "a0.pipe\"")) == "rubric.toml:17: a0.pipe: this id is used twice");
  CHECK(contains(rubric_refusal(with("a0.valve\"", "b0.valve\"")), "rubric.toml:17: id: expected a0.NAME"));
  CHECK(contains(rubric_refusal(with("a0.valve\"", "a0.val ve\"")), "rubric.toml:17: id: expected a0.NAME"));
  CHECK(rubric_refusal(with("total = 12", "total = 13")) ==
        "rubric.toml: total: expected 12, to which the marks add up, got 13");
  CHECK(rubric_refusal(with("needs = [\"a0.valve\"]", "needs = [\"a0.value\"]")) ==
        "rubric.toml:25: a0.tap: needs 'a0.value', which is not there; did you mean 'a0.valve'?");
  CHECK(rubric_refusal(with("needs = [\"a0.pipe\"]", "needs = [\"a0.tap\"]")) ==
        "rubric.toml:17: a0.valve: needs: a0.valve needs a0.tap, and that needs it in turn");
  CHECK(contains(rubric_refusal(with("needs = [\"a0.pipe\"]", "needs = [\"a0.valve\"]")),
                 "needs a0.valve, and that needs it"));
  CHECK(rubric_refusal(with("[\"one\", \"two\", \"three\"]", "[\"one\", \"two\"]")) ==
        "rubric.toml:11: a0.pipe: hints: expected 3 of them, got 2");
  CHECK(contains(rubric_refusal(with("\"two\"", "\"\"")), "rubric.toml:11: a0.pipe: hints"));
  CHECK(
      contains(rubric_refusal(with("marks = 4", "marks = -4")), "rubric.toml:11: a0.pipe: marks: expected 0 or more"));
  CHECK(rubric_refusal(with("marks = 4\n", "")) == "rubric.toml:11: marks: expected a number, got nothing");
  CHECK(rubric_refusal(with("hints =", "hint =")) == "rubric.toml:16: unknown key 'hint'; did you mean 'hints'?");
  CHECK(rubric_refusal(with("marks_source", "mark_source")) ==
        "rubric.toml:4: unknown key 'mark_source'; did you mean 'marks_source'?");
  CHECK(contains(rubric_refusal(with("student/tap.cpp\"\nmarks", "student/sink.cpp\"\nmarks")),
                 "rubric.toml:25: a0.tap: file: 'student/sink.cpp' is not among the sources"));
  CHECK(contains(rubric_refusal(with("sources = [", "sources = [\"../tap\", ")), "path inside the lab's folder"));
  CHECK(contains(rubric_refusal(with("stand_in = [\"student/pipes\"]", "stand_in = [\"student/tap.cpp\"]")),
                 "would take the place of this task's own file"));
  CHECK(contains(rubric_refusal(with("file = \"answers.md\"", "file = \"words.md\"")), "not among the answers"));
  CHECK(contains(rubric_refusal(with("run = \"none\"", "snippets_in = \"words.md\"")),
                 "rubric.toml:5: snippets_in: 'words.md'"));
  CHECK(contains(rubric_refusal(with("ranks = [4, 2]", "ranks = [4, 4]")), "rubric.toml:9: ranks"));
  CHECK(contains(rubric_refusal(with("ranks = [4, 2]", "ranks = [4000000000000]")),
                 "rubric.toml:9: ranks: expected world"));
  CHECK(contains(rubric_refusal(with("ranks = [4, 2]", "ranks = []")), "rubric.toml:9: ranks"));
}

const char* const kLadders = R"(
[[ladder]]
id = "a0.ladder"
title = "Up"
total = 5
[[ladder.rung]]
marks = 1
title = "low"
needs = ["a0.pipe", "SingleCheck"]
[[ladder.rung]]
marks = 5
title = "high"
any_of = ["a0.valve", "a0.words"]
[[bonus]]
id = "a0.more"
title = "More"
marks = 2
needs = ["a0.tap"]
)";

TEST_CASE("ladders and bonuses count, too") {
  const std::string text = with("total = 12", "total = 17") + kLadders;
  const Rubric rubric = load(text);
  REQUIRE(rubric.ladders.size() == 1);
  CHECK(rubric.ladders[0].rungs.at(1).any_of.size() == 2);
  CHECK(rubric.bonuses.at(0).marks == 2);
  const auto find_refusal = [&](const std::string& before, const std::string& after) {
    std::string other = text;
    return rubric_refusal(other.replace(other.find(before), before.size(), after));
  };
  CHECK(contains(find_refusal("total = 5\n[", "total = 6\n["),
                 "a0.ladder: total: expected the marks of the highest rung"));
  CHECK(
      contains(find_refusal("marks = 1\ntitle = \"low\"", "marks = 7\ntitle = \"low\""), "rung 'high': expected more"));
  CHECK(contains(find_refusal("any_of = [\"a0.valve\"", "any_of = [\"a0.vale\""), "did you mean 'a0.valve'?"));
  CHECK(contains(find_refusal("needs = [\"a0.tap\"]", "needs = []"), "a0.more: expected needs or any_of"));
}

TEST_CASE("an instructor's file changes marks, and totals follow") {
  const Rubric rubric = load(kRubric);
  const char* const kChanges = R"([[task]]
id = "a0.pipe"
marks = 10
all_or_nothing = true
[[task]]
id = "a0.tap"
bonus = false
needs = []
[[manual]]
id = "a0.words"
marks = 1
[judging]
ranks = [8]
cheap_ranks = [1]
budget_seconds = 60
)";
  const Rubric changed = overridden(rubric, std::string("lab = \"a0_pipes\"\n") + kChanges);
  CHECK(changed.total == 10 + 2 + 3 + 1);
  CHECK(changed.bonus_total == 0);
  CHECK(changed.find_task("a0.pipe")->all_or_nothing);
  CHECK(changed.find_task("a0.tap")->needs.empty());
  CHECK(changed.find_task("a0.tap")->stand_in.empty());
  CHECK(changed.judging.ranks == std::vector<int>{8});
  CHECK(changed.judging.cheap_ranks == std::vector<int>{1});
  CHECK(changed.judging.budget_seconds == 60);
  CHECK(changed.judging.stall_seconds == rubric.judging.stall_seconds);
  CHECK(overridden(rubric, std::string("lab = \"a9_collectives\"\n") + kChanges).total == rubric.total);
  CHECK(overridden(rubric, "[a9_collectives]\n[[a9_collectives.task]]\nid = \"a9.x\"\n").total == rubric.total);
  CHECK(overridden(rubric, "[a0_pipes]\n[[a0_pipes.task]]\nid = \"a0.pipe\"\nmarks = 0\n").total == 8);
}

TEST_CASE("a ladder's rungs keep their shares") {
  const Rubric rubric = load(with("total = 12", "total = 17") + kLadders);
  const Rubric changed = overridden(rubric, "lab = \"a0_pipes\"\n[[ladder]]\nid = \"a0.ladder\"\nmarks = 10\n");
  CHECK(changed.ladders[0].rungs[0].marks == 2);
  CHECK(changed.ladders[0].total == 10);
  CHECK(changed.total == 22);
}

TEST_CASE("visibility: an item's own, or that of the rubric; an instructor's file may say otherwise") {
  Rubric rubric = load(with("hints =", "visibility = \"hidden\"\nhints ="));
  CHECK(rubric.find_task("a0.pipe")->visibility == Visibility::kHidden);
  CHECK(rubric.find_task("a0.valve")->visibility == Visibility::kVisible);
  CHECK(rubric.manuals[0].visibility == Visibility::kVisible);
  rubric = load("visibility = \"after_published\"\n" + with("hints =", "visibility = \"visible\"\nhints ="));
  CHECK(rubric.find_task("a0.pipe")->visibility == Visibility::kVisible);
  CHECK(rubric.find_task("a0.valve")->visibility == Visibility::kAfterPublished);
  CHECK(rubric.manuals[0].visibility == Visibility::kAfterPublished);
  rubric = overridden(rubric,
                      "[a0_pipes]\nvisibility = \"hidden\"\n[[a0_pipes.task]]\nid = \"a0.valve\"\n"
                      "visibility = \"after_due_date\"\n");
  CHECK(rubric.find_task("a0.pipe")->visibility == Visibility::kHidden);
  CHECK(rubric.find_task("a0.valve")->visibility == Visibility::kAfterDueDate);
  CHECK(rubric.manuals[0].visibility == Visibility::kHidden);

  CHECK(rubric_refusal(with("hints =", "visibility = \"hiden\"\nhints =")) ==
        "rubric.toml:11: visibility: expected visible, hidden, after_due_date or after_published, got 'hiden'; did you "
        "mean 'hidden'?");
  CHECK(contains(rubric_refusal(with("hints =", "visibility = false\nhints =")), "visibility: expected "));
  CHECK(contains(rubric_refusal(with("hints =", "visible = \"hidden\"\nhints =")), "unknown key 'visible'"));
  CHECK(contains(override_refusal("[a0_pipes]\nvisibility = \"\"\n"), "ours.toml:1: visibility: expected visible"));
  CHECK(contains(override_refusal("visibility = \"hidden\"\n"), "ours.toml:1: unknown key 'visibility'"));
}

TEST_CASE("an instructor's file that names what is not there is refused") {
  CHECK(override_refusal("lab = \"a0_pipes\"\n[[task]]\nid = \"a0.pip\"\n") ==
        "ours.toml:2: there is no [[task]] 'a0.pip'; did you mean 'a0.pipe'?");
  CHECK(override_refusal("[a0_pipe]\n[[a0_pipe.task]]\nid = \"a0.pipe\"\n") ==
        "ours.toml:1: unknown key 'a0_pipe'; did you mean 'a0_pipes'?");
  CHECK(override_refusal("[late]\ndue = 3\n") ==
        "ours.toml:1: unknown key 'late'; expected one of a0_pipes, a9_collectives");
  CHECK(override_refusal("a9_collectives = 3\n") == "ours.toml:1: a9_collectives: expected a table, got 3");
  CHECK(override_refusal("lab = \"a0\"\n") == "ours.toml:1: lab: expected a0_pipes or a9_collectives, got 'a0'");
  CHECK(contains(override_refusal("lab = \"a0_pipes\"\n[[task]]\nid = \"a0.pipe\"\ntitle = \"x\"\n"),
                 "unknown key 'title'"));
  CHECK(contains(override_refusal("lab = \"a0_pipes\"\n[[task]]\nid = \"a0.pipe\"\nmarks = -1\n"),
                 "ours.toml:2: a0.pipe: marks"));
  CHECK(contains(override_refusal("lab = \"a0_pipes\"\n[[task]]\nid = \"a0.pipe\"\n[[task]]\nid = \"a0.pipe\"\n"),
                 "ours.toml:4: a0.pipe is changed twice"));
  CHECK(contains(override_refusal("lab = \"a0_pipes\"\n[[task]]\nid = \"a0.pipe\"\nneeds = [\"a0.tap\"]\n"),
                 "ours.toml:2: a0.pipe: needs"));
}

TEST_CASE("paths inside a folder") {
  for (const char* path : {"student/a.cpp", "a", ".hidden", "a/..b/c"}) CHECK_MESSAGE(is_inner_path(path), path);
  for (const char* path : {"", "/a", "..", "a/../b", "a//b", "a/", "./a"}) CHECK_MESSAGE(!is_inner_path(path), path);
  CHECK(is_below_any("student/a/b.cpp", {"student/a"}));
  CHECK_FALSE(is_below_any("student/ab.cpp", {"student/a"}));
}

/// The folders of the suite's labs.
std::vector<std::filesystem::path> lab_folders() {
  const char* const source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir)) {
    if (std::filesystem::exists(entry.path() / "rubric.toml")) folders.push_back(entry.path());
  }
  return folders;
}

TEST_CASE("every lab's rubric fits its folder") {
  const auto folders = lab_folders();
  CHECK_FALSE(folders.empty());
  for (const auto& folder : folders) {
    CAPTURE(folder.string());
    const Rubric rubric = load_rubric((folder / "rubric.toml").string());
    CHECK(rubric.lab == folder.filename().string());
    const auto exists = [&](const std::string& path) { return std::filesystem::exists(folder / path); };
    for (const std::string& source : rubric.hand_in.sources) CHECK_MESSAGE(exists(source), source);
    for (const RubricTask& task : rubric.tasks) {
      CHECK_MESSAGE(exists(task.file), task.file);
      for (const std::string& path : task.stand_in) CHECK_MESSAGE(exists(path), path);
    }
    std::vector<std::string> written = rubric.hand_in.sources;
    for (const RubricTask& task : rubric.given) written.push_back(task.file);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "student")) {
      const std::string path = std::filesystem::relative(entry.path(), folder).string();
      if (entry.is_regular_file()) CHECK_MESSAGE(is_below_any(path, written), path);
    }
  }
}

}  // namespace
}  // namespace lab
