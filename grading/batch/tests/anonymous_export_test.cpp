#include "grading/batch/anonymous_export.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/marks/tests/sample_marks.h"

namespace lab::grading {
namespace {

using lab::testing::TemporaryFolder;
using testing::a_manual;
using testing::a_task;
using testing::CheckState;
using testing::judged;

const Pseudonyms kPseudonyms("000102030405060708090a0b0c0d0e0f", "key");

/// A student, with texts that would say who it is wherever a student, a grader or a file's name can put one.
struct NamedStudent {
  std::string name, id, email, file, folder;

  std::vector<std::string> words() const { return {name, id, email, file, folder}; }
  std::string all() const { return name + " " + id + " <" + email + "> in " + file + " of " + folder; }

  LabOutcome outcome() const {
    LabOutcome outcome = testing::outcome_of(
        {judged("a9.x", {CheckState::kFailed, CheckState::kPassed}), judged("a9.y", {CheckState::kTooExpensive})});
    outcome.tasks["a9.x"].reason = outcome.tasks["a9.x"].checks[0].reason = "threw: I am " + all();
    outcome.tasks["a9.y"].checks[0].reason = "/home/" + all();
    outcome.tasks["a9.y"].stand_in = "since " + all();
    outcome.hand_in_notes = {"handed in by " + all()};
    outcome.notes = {"it printed:\n" + all()};
    outcome.evidence = {{file, "is the log of " + all()}};
    outcome.answers = {{"answers.md", "By " + all()}};
    outcome.seed = "--seed 4711";
    outcome.handed_in = HandedIn{moment_in("2026-12-03T04:05:06Z")};
    return outcome;
  }
};

const std::vector<NamedStudent> kHostile = {
    {"Ada <b>Lovelace</b>", "s1234567", "ada@x.org", "lovelaceada_11_101_a9.zip", "s1234567-1f"},
    {"\"Hopper, Grace\"", "=cmd|'/C calc'!A0", "grace@navy.mil", "../hopper.zip", "_cmd_C_calc_A0"},
    {"\xE2\x80\xAEgniruT nalA", "u\xCC\x88mlaut", "alan@bletchley.uk", "turing\n13.tar.gz", "umlaut"},
    {"{{name}} | `x`", "{{id}}", "{{email}}@x", "%2e%2e.zip", "{{who}}"}};

struct Exported {
  std::map<std::string, std::string> files;
  std::vector<std::string> order;
};

Exported export_of(const std::vector<NamedStudent>& named, const Pseudonyms& pseudonyms, const Roster* roster) {
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.title = "Sample";
  rubric.tasks = {a_task("a9.x", 10), a_task("a9.y", 10)};
  rubric.manuals = {a_manual("a9.q", 5, "answers.md")};
  rubric.total = 25;
  rubric.late = LatePolicy();
  rubric.late->due = *moment_in("2026-12-01T18:00Z");
  std::vector<MarkedStudent> students;
  for (std::size_t i = 0; i < named.size(); ++i) {
    MarkedStudent& student = students.emplace_back();
    if (roster != nullptr) student.roster_row = i;
    student.identity = {named[i].name, named[i].id};
    student.who = named[i].folder;
    student.hand_ins = {named[i].file};
    student.remarks = {"signed by " + named[i].all()};
    student.labs[rubric.lab] = marks_of(rubric, named[i].outcome(), {{"a9.q", 3, "Well done, " + named[i].all(), ""}});
  }
  students.emplace_back().identity = {"Emmy Noether", "s7"};  // has handed in nothing
  students.back().who = "";
  Exported exported;
  AnonymousExport to;
  to.outcome_of = [&](const MarkedStudent& student, const std::string& lab) {
    CHECK(lab == rubric.lab);
    for (const NamedStudent& one : named) {
      if (one.folder == student.who) return one.outcome();
    }
    FAIL("an outcome of nobody");
    return LabOutcome();
  };
  to.write = [&](const std::string& path, const std::string& text) {
    CHECK(exported.files.emplace(path, text).second);
    exported.order.push_back(path);
  };
  export_anonymously(pseudonyms, roster, students, {rubric.lab}, to);
  return exported;
}

TEST_CASE("an export of a hostile class has nothing that says who anyone is") {
  const Exported exported = export_of(kHostile, kPseudonyms, nullptr);
  CHECK(exported.files.size() == 2 + 2 * kHostile.size());
  for (const auto& [path, text] : exported.files) {
    CAPTURE(path);
    for (const NamedStudent& student : kHostile) {
      for (const std::string& word : student.words()) {
        CHECK_MESSAGE(path.find(word) == std::string::npos, word);
        CHECK_MESSAGE(text.find(word) == std::string::npos, word);
      }
    }
    // What is left of them where they were escaped or made safe, and what else was written by somebody.
    for (const char* word :
         {"Lovelace", "Hopper", "gniruT", "Noether", "s1234567", "calc", "mlaut", "navy", "bletchley", "handed in by",
          "Well done", "threw", "printed", "4711", "04:05", "answers.md"})
      CHECK_MESSAGE(text.find(word) == std::string::npos, word);
  }
}

TEST_CASE("... but has its marks, states and figures") {
  const Exported exported = export_of(kHostile, kPseudonyms, nullptr);
  const std::string ada = kPseudonyms.of("s1234567");
  CHECK(exported.files.at("marks.csv").find(ada + ",," + ada + ",,,8,25,0,0,,2,8,") != std::string::npos);
  CHECK(exported.files.at("marks.csv").find(kPseudonyms.of("s7") + ",,") != std::string::npos);
  CHECK(exported.files.at("index.html").find("A class of 5 students") != std::string::npos);
  CHECK(exported.files.at("index.html").find("href=\"" + ada + "/a9_collectives/report.html\"") != std::string::npos);
  CHECK(exported.files.at(ada + "/a9_collectives/report.html").find("8 of 25") != std::string::npos);
  CHECK(exported.files.at(ada + "/a9_collectives/outcome.json").find("too expensive") != std::string::npos);
}

TEST_CASE("pseudonyms are the same each time, and those of a roster whatever was handed in") {
  const Roster roster("ID,Student\nr0,a\nr1,b\nr2,c\nr3,d\n", "r.csv");
  const Exported first = export_of(kHostile, kPseudonyms, &roster), again = export_of(kHostile, kPseudonyms, &roster);
  CHECK(first.files == again.files);
  CHECK(first.files.count(kPseudonyms.of("r2") + "/a9_collectives/outcome.json") == 1);
  const Pseudonyms other("f00102030405060708090a0b0c0d0e0f", "key");
  CHECK(other.of("r2") != kPseudonyms.of("r2"));
  CHECK(export_of(kHostile, other, &roster).files.count(kPseudonyms.of("r2") + "/a9_collectives/outcome.json") == 0);
}

TEST_CASE("the order is that of the pseudonyms") {
  std::vector<NamedStudent> many;
  for (int i = 0; i < 20; ++i) {
    const std::string id = "id" + std::to_string(i);
    many.push_back({"n", id, "e", "f", id});
  }
  const Exported exported = export_of(many, kPseudonyms, nullptr);
  CHECK(std::is_sorted(exported.order.begin(), exported.order.end() - 2));
  std::vector<std::string> as_listed;
  for (const NamedStudent& one : many) as_listed.push_back(kPseudonyms.of(one.id) + "/a9_collectives/outcome.json");
  CHECK_FALSE(std::is_sorted(as_listed.begin(), as_listed.end()));
}

TEST_CASE("two hand-ins of one student by different names are two, and a group is counted once") {
  std::vector<NamedStudent> twice = {kHostile[0], kHostile[0]};
  twice[1].folder = "other";
  CHECK(export_of(twice, kPseudonyms, nullptr).files.size() == 2 + 2 * 2);
  std::vector<NamedStudent> group = {kHostile[0], kHostile[0]};
  group[1].id = "s2";
  const Exported exported = export_of(group, kPseudonyms, nullptr);
  CHECK(exported.files.size() == 2 + 2 * 2);
  CHECK(exported.files.at("index.html").find("1 graded lab in all") != std::string::npos);
}

TEST_CASE("the key is made once, for its owner alone, and nothing else is taken for one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("key");
  const std::string ada = Pseudonyms::kept_in(path).of("ada");
  CHECK(Pseudonyms::kept_in(path).of("ada") == ada);
  CHECK(ada.size() == 17);
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_read) ==
        std::filesystem::perms::none);
  for (const char* wrong : {"", "\n", "0001", "0001020304050607 8090a0b0c0d0e0f", "-00102030405060708090a0b0c0d0e0f",
                            "000102030405060708090a0b0c0d0e0f0"})
    CHECK_THROWS_WITH_AS(Pseudonyms(wrong, "k"), "k: expected a key of 32 hexadecimal digits, got something else",
                         UsageError);
}

}  // namespace
}  // namespace lab::grading
