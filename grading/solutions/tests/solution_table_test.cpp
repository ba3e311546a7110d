#include "grading/solutions/solution_table.h"

#include <filesystem>
#include <fstream>

#include "common/api/errors.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"

namespace {

using namespace lab;
using namespace lab::grading;

/// A table in a folder of its own.
struct Written {
  SolutionTable load(const std::string& text) const {
    std::ofstream(path()) << text;
    return load_solutions(path());
  }
  std::string path() const { return folder.path() + "/a9.toml"; }
  launch::RunDirectory folder;
};

const std::string kRow = "[[solution]]\nfile = \"a9/student/x.cpp\"\nreplace = \"a\"\n";

}  // namespace

TEST_CASE("solutions: what a row of a table says") {
  const Written table;
  const SolutionTable read = table.load(
      kRow + "with = \"\\\"b\\\"\\n\"\nat = 12\nsymptom = \"sign\"\ntask = \"a9.one\"\nalso = [\"a9.two\"]\n" +
      "[[solution]]\nname = \"right\"\nexpected = \"right\"\nfile = \"f.cpp\"\n" +
      "[[solution.change]]\nreplace = \"a\"\nwith = \"b\"\n[[solution.change]]\nfile = \"g.cpp\"\npart = 2\nwith = "
      "\"\"\n" +
      "[[kept]]\nheader = \"h\"\nsentence = \"Cost one\"\ngiven = \"t.cpp\"\n");
  REQUIRE(read.solutions.size() == 2);
  const Solution& wrong = read.solutions[0];
  CHECK_FALSE(wrong.right);
  CHECK_FALSE(wrong.judge);
  CHECK(wrong.changes.at(0).with == "\"b\"\n");
  CHECK(wrong.changes.at(0).at == 12);
  CHECK(wrong.symptom == "sign");
  CHECK(wrong.also == std::vector<std::string>{"a9.two"});
  const Solution& right = read.solutions[1];
  CHECK(right.right);
  REQUIRE(right.changes.size() == 2);
  CHECK(right.changes[0].file == "f.cpp");
  CHECK_FALSE(right.changes[0].at);
  CHECK(right.changes[1].file == "g.cpp");
  CHECK(right.changes[1].part == 2);
  CHECK(read.kept.at(0).given == "t.cpp");
}

TEST_CASE("solutions: a row that cannot be meant is refused with its place") {
  const Written table;
  const auto refused = [&](const std::string& text, const char* why) {
    CHECK_THROWS_WITH_AS(table.load(text), doctest::Contains("a9.toml"), UsageError);
    CHECK_THROWS_WITH_AS(table.load(text), doctest::Contains(why), UsageError);
  };
  refused(kRow, "with");
  refused(kRow + "with = \"b\"\nwhit = \"c\"\n", "whit");
  refused(kRow + "with = \"b\"\nat = -1\n", "at -1");
  refused(kRow + "with = \"b\"\npart = 1\n", "got both");
  refused(kRow + "with = \"b\"\nexpected = \"maybe\"\n", "maybe");
  refused(kRow + "with = \"b\"\nexpected = \"right\"\nsymptom = \"sign\"\n", "lose nothing");
  refused(kRow + "with = \"b\"\nheader = \"h\"\n", "`sentence`");
  refused(kRow + "with = \"b\"\npatch = \"a9/p.patch\"\n", "either");
  refused("[[solution]]\nwith = \"b\"\nreplace = \"a\"\n", "`file`");
  refused("[[solution]]\npatch = \"a9/p.patch\"\n", "task");
  refused("[[solution]]\npatch = \"a9/p.patch\"\ntask = \"a9.one\"\n", "there is no");
  refused("[[kept]]\nheader = \"h\"\nsentence = \"s\"\n", "given");
  refused("[[contract]]\nheader = \"h\"\n", "contract");
  const std::string named = kRow + "with = \"b\"\nname = \"n\"\n";
  refused(named + named, "another row");
  std::filesystem::create_directory(table.folder.path() + "/a9");
  std::ofstream(table.folder.path() + "/a9/p.patch") << "no row names it\n";
  refused(kRow + "with = \"b\"\n", "p.patch");
}
