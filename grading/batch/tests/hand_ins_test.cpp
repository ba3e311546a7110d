#include "grading/batch/hand_ins.h"

#include <filesystem>

#include "common/api/errors.h"
#include "common/testing/archive_builder.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/batch/class_folder.h"
#include "grading/submission/tests/sample_labs.h"

namespace lab::grading {
namespace {

using lab::testing::ArchiveBuilder;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using testing::written_to;

/// "SHOWN called CALLED by IDS" for each.
std::vector<std::string> found_in(const std::string& folder, const std::optional<NamePattern>& names = {}) {
  std::vector<std::string> found;
  for (const HandIn& one : find_hand_ins({folder, names}).found) {
    std::string line = one.shown + " called " + one.called + " by";
    for (const Student& student : one.students) line += " " + (student.id.empty() ? student.name : student.id);
    found.push_back(line + (one.is_late ? " late" : ""));
  }
  return found;
}

TEST_CASE("hand-ins: files and folders of any names") {
  const TemporaryFolder folder;
  const std::string all = written_to(folder, "all",
                                     {{"alice.zip", "x"},
                                      {"bob/a9_collectives/student/x.cpp", "x"},
                                      {"carol/a9.zip", "x"},
                                      {"carol/a5_answers.md", "x"},
                                      {"carol/notes.txt", "x"},
                                      {"dave/student/x.cpp", "x"},
                                      {"dave/old.zip", "x"},
                                      {"eve/flat.cpp", "x"},
                                      {"eve/writtenanswers.md", "x"},
                                      {"grades.csv", "x"},
                                      {".hidden", "x"},
                                      {"__MACOSX/._x", "x"}});
  std::filesystem::create_directory(all + "/frank");
  std::filesystem::create_symlink("/etc/passwd", all + "/g.zip");
  CHECK(found_in(all) ==
        std::vector<std::string>{"alice.zip called alice.zip by", "bob called bob by",
                                 "carol/a5_answers.md called a5_answers.md by", "carol/a9.zip called a9.zip by",
                                 "dave called dave by", "dave/old.zip called old.zip by", "eve called eve by",
                                 "eve/writtenanswers.md called writtenanswers.md by", "frank called frank by"});
  CHECK(find_hand_ins({all, {}}).notes ==
        std::vector<std::string>{"g.zip is a link, or not a file: left out", "grades.csv is not an archive: left out"});
}

TEST_CASE("hand-ins: metadata of Gradescope that cannot be read are refused") {
  const TemporaryFolder folder;
  const std::string all =
      written_to(folder, "all", {{"submission_metadata.yml", "- a: [\n"}, {"submission_1/a9.zip", "x"}});
  CHECK_THROWS_AS(find_hand_ins({all, {}}), UsageError);
}

TEST_CASE("hand-ins: results in the same folder are none") {
  const TemporaryFolder folder;
  const std::string all = written_to(folder, "all", {{"alice.zip", "x"}, {"out/class/s1/a9.zip", "x"}});
  HandIns found = find_hand_ins({all, {}, nullptr, all + "/out/class"});
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].shown == "alice.zip");
}

TEST_CASE("hand-ins: what is shown of a name cannot reach a terminal's controls") {
  const TemporaryFolder folder;
  const std::string all = written_to(folder, "all", {{"a\x1B[2J\n.zip", "x"}, {"b\x1B]0;x.txt", "x"}});
  const HandIns found = find_hand_ins({all, {}});
  CHECK(found.found.at(0).shown == "a\xEF\xBF\xBD[2J .zip");
  CHECK(found.notes.at(0).find('\x1B') == std::string::npos);
}

TEST_CASE("hand-ins: names by a pattern; a folder without hand-ins is refused") {
  const TemporaryFolder folder;
  const std::string all =
      written_to(folder, "all", {{"hw3-s17-a9.zip", "x"}, {"hw3-s18-late.rar", "x"}, {"lovelaceada_1_2_a9.zip", "x"}});
  CHECK(found_in(all, NamePattern("hw3-{id}-{file}")) ==
        std::vector<std::string>{"hw3-s17-a9.zip called a9.zip by s17", "hw3-s18-late.rar called late.rar by s18",
                                 "lovelaceada_1_2_a9.zip called lovelaceada_1_2_a9.zip by"});
  CHECK_THROWS_AS(find_hand_ins({folder.file("none"), {}}), UsageError);
  std::filesystem::create_directory(folder.file("empty"));
  CHECK_THROWS_AS(find_hand_ins({folder.file("empty"), {}}), UsageError);
}

TEST_CASE("a bulk download is unpacked into its folder and nowhere else") {
  const TemporaryFolder folder;
  {
    ArchiveBuilder archive(folder.file("all.zip"));
    archive.folder("ada/").file("ada/a9.zip", "PK").file("bob.zip", std::string(200'000, 'b'));
    archive.file("../up.zip", "x").file("/abs.zip", "x").symlink("link.zip", "/etc/passwd").file("__MACOSX/x", "x");
  }
  std::filesystem::create_directory(folder.file("out"));
  const std::vector<std::string> notes = unpack_download(folder.file("all.zip"), folder.file("out"));
  CHECK(read_bytes(folder.file("out/ada/a9.zip")) == "PK");
  CHECK(read_bytes(folder.file("out/bob.zip")).size() == 200'000);
  CHECK(notes.size() == 3);
  CHECK_FALSE(std::filesystem::exists(folder.file("up.zip")));
  CHECK(std::filesystem::symlink_status(folder.file("out/link.zip")).type() == std::filesystem::file_type::not_found);
  std::size_t num_files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.file("out")))
    num_files += entry.is_regular_file() ? 1 : 0;
  CHECK(num_files == 2);
}

TEST_CASE("a file that is not an archive is refused") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("out"));
  lab::testing::write_bytes(folder.file("x.zip"), "no archive");
  CHECK_THROWS_AS(unpack_download(folder.file("x.zip"), folder.file("out")), UsageError);
  CHECK_THROWS_AS(unpack_download(folder.file("none.zip"), folder.file("out")), UsageError);
}

}  // namespace
}  // namespace lab::grading
