#include "grading/hostile/hostile_index.h"

#include <cstdlib>

#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace lab::grading {
namespace {

using lab::testing::contains;
using lab::testing::get_message;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

const std::vector<std::string> kTasks = {"x.first", "x.second"};

constexpr char kBomb[] =
    "[[hostile]]\nname = \"bomb\"\ntask = \"x.first\"\nwhat = \"explodes\"\n"
    "file = \"student/x.cpp\"\ncode = \"@SYSTEM_CALL@ boom(@HOME@);\"\n";
constexpr char kSlip[] =
    "[[hostile]]\nname = \"slip\"\ntask = \"x.second\"\nwhat = \"slips\"\narchive = \"zip_slip\"\n";

std::vector<HostileEntry> load(const std::string& index) {
  const TemporaryFolder folder;
  write_bytes(folder.file("hostile.toml"), index);
  return load_hostile(folder.file("hostile.toml"), kTasks);
}

std::string refusal(const std::string& index) {
  return get_message([&] { load(index); });
}

/// The text with the first `from` in it replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("hostile entries are read in order, with what they leave out") {
  const std::vector<HostileEntry> entries =
      load("system_call = \"kernel()\"\n" + std::string(kBomb) +
           "says = [\"memory\"]\nat_limits = \"It explodes.\"\nnightly = true\n" + kSlip);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == "bomb");
  CHECK(entries[0].lab == "x");
  CHECK(entries[0].file == "student/x.cpp");
  CHECK(entries[0].code == "kernel() boom(@HOME@);");
  CHECK(entries[0].says == std::vector<std::string>{"memory"});
  CHECK(entries[0].at_limits == "It explodes.");
  CHECK(entries[0].nightly);
  CHECK(entries[0].marks == 0);
  CHECK(entries[0].most_seconds > 60);
  CHECK(entries[1].archive == "zip_slip");
  CHECK_FALSE(entries[1].nightly);
}

TEST_CASE("a hostile entry is an archive, or a file with its code, and not both") {
  const std::string expected = ": expected either an archive, or a file and its code", bomb = kBomb, slip = kSlip;
  CHECK(contains(refusal(with(bomb, "code = \"@SYSTEM_CALL@ boom(@HOME@);\"\n", "")), "bomb" + expected));
  CHECK(contains(refusal(with(bomb, "file = \"student/x.cpp\"\n", "")), "bomb" + expected));
  CHECK(contains(refusal(with(slip, "archive = \"zip_slip\"\n", "")), "slip" + expected));
  CHECK(contains(refusal(bomb + "archive = \"zip_slip\"\n"), "bomb" + expected));
  CHECK(contains(refusal(slip + "code = \"x\"\n"), "slip" + expected));
}

TEST_CASE("a hostile entry must name a task, an archive and keys that exist, once") {
  const std::string bomb = kBomb;
  CHECK(
      contains(refusal(with(bomb, "x.first", "x.frist")), "bomb: no lab has a task x.frist; did you mean 'x.first'?"));
  CHECK(contains(refusal(bomb + with(kSlip, "zip_slip", "zip_slap")),
                 "slip: there is no archive zip_slap; did you mean 'zip_slip'?"));
  CHECK(contains(refusal(bomb + "quik = true\n"), "quik"));
  CHECK(contains(refusal(bomb + bomb), "bomb is listed twice"));
}

TEST_CASE("the README has every hostile entry, and what each may do without bubblewrap") {
  const std::string corpus = std::string(std::getenv("LAB_SOURCE_DIR")) + "/grading/hostile";
  const std::string readme = read_bytes(corpus + "/README.md"), index = read_bytes(corpus + "/hostile.toml");
  std::vector<std::string> tasks;
  for (std::size_t at = 0; (at = index.find("task = \"", at)) != std::string::npos; ++at)
    tasks.push_back(index.substr(at + 8, index.find('"', at + 8) - at - 8));
  const std::vector<HostileEntry> entries = load_hostile(corpus + "/hostile.toml", tasks);
  CHECK(entries.size() >= 42);
  for (const HostileEntry& entry : entries) {
    CAPTURE(entry.name);
    CHECK(contains(readme, "`" + entry.name + "`"));
    CHECK(contains(readme, entry.at_limits));
  }
}

}  // namespace
}  // namespace lab::grading
