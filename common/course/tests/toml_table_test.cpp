#include "common/course/rubric/toml_table.h"

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab {
namespace {

using testing::get_message;
using testing::TemporaryFolder;
using testing::write_bytes;

const char* const kText = R"(title = "Pipes"
total = 100
share = 2.5
bonus = true
ranks = [4, 3]
needs = ["a", "b"]

[hand_in]
run = "none"

[[task]]
id = "a0.first"

[[task]]
id = "a0.second"
marks = "seven"
)";

TomlTable table() {
  return TomlTable::parse(kText, "a0/rubric.toml");
}

TEST_CASE("keys are read by type") {
  const TomlTable file = table();
  CHECK(file.string("title") == "Pipes");
  CHECK(file.string("subtitle", "none") == "none");
  CHECK(file.number("total") == 100);
  CHECK(file.number("share") == 2.5);
  CHECK(file.number("other", 7) == 7);
  CHECK(file.boolean("bonus", false));
  CHECK_FALSE(file.boolean("other", false));
  CHECK(file.integers("ranks") == std::vector<std::int64_t>{4, 3});
  CHECK(file.integers("other").empty());
  CHECK(file.strings("needs") == std::vector<std::string>{"a", "b"});
  CHECK(file.strings("other").empty());
  CHECK(file.has("hand_in"));
  CHECK_FALSE(file.has("other"));
  CHECK(file.keys() ==
        std::vector<std::string>{"bonus", "hand_in", "needs", "ranks", "share", "task", "title", "total"});
}

TEST_CASE("tables know where they stand, and outlive the file they were read from") {
  const auto hand_in = table().table("hand_in");
  REQUIRE(hand_in);
  CHECK(hand_in->string("run") == "none");
  CHECK(hand_in->place() == "a0/rubric.toml:8");
  const std::vector<TomlTable> tasks = table().tables("task");
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[1].string("id") == "a0.second");
  CHECK(tasks[1].place() == "a0/rubric.toml:14");
  CHECK_FALSE(table().table("other"));
  CHECK(table().tables("other").empty());
}

TEST_CASE("what is wrong is said with its line") {
  const TomlTable file = table();
  CHECK(get_message([&] { file.string("total"); }) == "a0/rubric.toml:2: total: expected a string, got 100");
  CHECK(get_message([&] { file.tables("task")[1].number("marks"); }) ==
        "a0/rubric.toml:16: marks: expected a number, got the string \"seven\"");
  CHECK(get_message([&] { file.tables("task")[0].number("marks"); }) ==
        "a0/rubric.toml:11: marks: expected a number, got nothing");
  CHECK(get_message([&] { file.boolean("title", true); }) ==
        "a0/rubric.toml:1: title: expected true or false, got the string \"Pipes\"");
  CHECK(get_message([&] { file.strings("ranks"); }) == "a0/rubric.toml:5: ranks: expected a list of strings, got 4");
  CHECK(get_message([&] { file.integers("share"); }) ==
        "a0/rubric.toml:3: share: expected a list of integers, got 2.5");
  CHECK(get_message([&] { file.table("task"); }) == "a0/rubric.toml:11: task: expected a table, got a list of tables");
  CHECK(get_message([&] { file.tables("hand_in"); }) ==
        "a0/rubric.toml:8: hand_in: expected a list of tables, got a table");
  CHECK(get_message([&] { TomlTable::parse("marks = inf", "x").number("marks"); }) ==
        "x:1: marks: expected a number, got inf");
}

TEST_CASE("an unknown key is refused, and the nearest named") {
  const std::vector<std::string> known = {"bonus", "hand_in", "needs", "ranks", "share", "task", "total"};
  CHECK(get_message([&] { table().require_known(known); }).find("a0/rubric.toml:1: unknown key 'title'") == 0);
  CHECK(get_message([&] { TomlTable::parse("\nbonsu = 1", "x").require_known(known); }) ==
        "x:2: unknown key 'bonsu'; did you mean 'bonus'?");
}

TEST_CASE("a file that is no TOML is refused with line and column") {
  CHECK(get_message([] { TomlTable::parse("a = 1\nb = = 2\n", "x.toml"); }).find("x.toml:2: invalid TOML, column 5") ==
        0);
  CHECK(get_message([] { TomlTable::parse("a = 1\na = 2\n", "x.toml"); }).find("x.toml:2: invalid TOML") == 0);
  CHECK(get_message([] { TomlTable::parse("a = \"\xff\"\n", "x.toml"); }).find("x.toml:1: invalid TOML") == 0);
  CHECK(get_message([] { TomlTable::parse("a = " + std::string(100000, '['), "x.toml"); }).find("invalid TOML") !=
        std::string::npos);
  CHECK(get_message([] { TomlTable::load("/nowhere/rubric.toml"); }).find("/nowhere/rubric.toml: cannot be read") == 0);
  const TemporaryFolder folder;
  write_bytes(folder.file("x.toml"), "a = 3");
  CHECK(TomlTable::load(folder.file("x.toml")).number("a") == 3);
}

}  // namespace
}  // namespace lab
