#include "common/course/starter/starter_update.h"

#include <filesystem>

#include "common/course/tests/folder_files.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab {
namespace {

namespace fs = std::filesystem;
using testing::get_message;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

constexpr char kTask[] = "a9_x/student/ring.cpp";
constexpr char kHeader[] = "common/x.h";

/// One student file, one provided file, one program.
StarterTree version(const std::string& task, const std::string& header) {
  return {{kTask, {task, false}},
          {std::string(".lab-pristine/") + kTask, {task, false}},
          {kHeader, {header, false}},
          {"lab", {"#!/bin/sh\n", true}}};
}

std::string describe_update(const StarterUpdate& update) {
  std::string messages;
  for (const std::string& message : update.messages) messages += message + "\n";
  return messages;
}

/// A starter of the first version.
struct Started {
  TemporaryFolder parent;
  std::string folder = parent.file("starter");

  Started() { update_starter(version("stub 1", "header 1"), folder); }
  std::string text(const std::string& path) const { return read_bytes(folder + "/" + path); }
  void edit(const std::string& path, const std::string& bytes) const { write_bytes(folder + "/" + path, bytes); }
};

TEST_CASE("a new starter has every file, its list, and its programs can be started") {
  const Started starter;
  CHECK(starter.text(kTask) == "stub 1");
  CHECK(starter.text(".lab-pristine/a9_x/student/ring.cpp") == "stub 1");
  CHECK(starter.text(kHeader) == "header 1");
  CHECK((fs::status(starter.folder + "/lab").permissions() & fs::perms::owner_exec) != fs::perms::none);
  CHECK((fs::status(starter.folder + "/" + kHeader).permissions() & fs::perms::owner_exec) == fs::perms::none);
  CHECK(read_starter_list(starter.folder).size() == 4);
  CHECK(testing::files_below(starter.folder).size() == 5);
}

TEST_CASE("the same version again touches no file") {
  const Started starter;
  starter.edit(kTask, "my work");
  const auto before = testing::times_below(starter.folder);
  const StarterUpdate update = update_starter(version("stub 1", "header 1"), starter.folder);
  CHECK(testing::times_below(starter.folder) == before);
  CHECK(update.num_written == 0);
  CHECK(update.messages.empty());
  CHECK_FALSE(update.fresh);
}

TEST_CASE("files that were not edited are replaced") {
  const Started starter;
  const StarterUpdate update = update_starter(version("stub 2", "header 2"), starter.folder);
  CHECK(starter.text(kTask) == "stub 2");
  CHECK(starter.text(".lab-pristine/a9_x/student/ring.cpp") == "stub 2");
  CHECK(starter.text(kHeader) == "header 2");
  CHECK(update.num_written == 3);
  CHECK(describe_update(update) == "");
}

TEST_CASE("a student's work stays where the task is as it was") {
  const Started starter;
  starter.edit(kTask, "my work");
  const StarterUpdate update = update_starter(version("stub 1", "header 2"), starter.folder);
  CHECK(starter.text(kTask) == "my work");
  CHECK(starter.text(kHeader) == "header 2");
  CHECK(describe_update(update) == "");
  CHECK_FALSE(fs::exists(starter.folder + "/" + kTask + ".new"));
}

TEST_CASE("where the task has changed, too, the new version is put next to the student's work, and named once") {
  const Started starter;
  starter.edit(kTask, "my work");
  const StarterUpdate update = update_starter(version("stub 2", "header 1"), starter.folder);
  CHECK(starter.text(kTask) == "my work");
  CHECK(starter.text(std::string(kTask) + ".new") == "stub 2");
  CHECK(describe_update(update) ==
        "a9_x/student/ring.cpp: yours stays; the new version has changed it, see a9_x/student/ring.cpp.new\n");

  fs::remove(starter.folder + "/" + kTask + ".new");  // the student has seen it
  CHECK(describe_update(update_starter(version("stub 2", "header 1"), starter.folder)) == "");
  CHECK_FALSE(fs::exists(starter.folder + "/" + kTask + ".new"));
}

TEST_CASE("a provided file that a student edited goes to the backup, and no backup takes another's place") {
  const Started starter;
  starter.edit(kHeader, "my header");
  const StarterUpdate update = update_starter(version("stub 1", "header 2"), starter.folder);
  CHECK(starter.text(kHeader) == "header 2");
  CHECK(starter.text(".lab-backup/common/x.h") == "my header");
  CHECK(describe_update(update) == "common/x.h: you had edited it; your version is in .lab-backup/common/x.h\n");

  starter.edit(kHeader, "my other header");
  update_starter(version("stub 1", "header 3"), starter.folder);
  CHECK(starter.text(kHeader) == "header 3");
  CHECK(starter.text(".lab-backup/common/x.h") == "my header");
  CHECK(starter.text(".lab-backup/common/x.h.2") == "my other header");
}

TEST_CASE("a file that the new version has no longer is removed, with its empty folder, unless it was edited") {
  StarterTree next = version("stub 1", "header 1");
  next.erase(kTask);
  next.erase(kHeader);
  const Started untouched;
  CHECK(update_starter(next, untouched.folder).num_removed == 2);
  CHECK_FALSE(fs::exists(untouched.folder + "/a9_x"));
  CHECK_FALSE(fs::exists(untouched.folder + "/common"));

  const Started edited;
  edited.edit(kTask, "my work");
  edited.edit("common/mine.h", "my own");
  const StarterUpdate update = update_starter(next, edited.folder);
  CHECK(edited.text(kTask) == "my work");
  CHECK(edited.text("common/mine.h") == "my own");
  CHECK(update.num_removed == 1);
  CHECK(describe_update(update) ==
        "a9_x/student/ring.cpp: stays, as you had edited it; the new version has no such file\n");
}

TEST_CASE("what a student made next to the starter stays") {
  const Started starter;
  starter.edit(".lab-progress", "a9.ring solved\n");
  starter.edit("a9_x/answers.md", "an answer");
  starter.edit("a9_x/student/helper.h", "my helper");
  update_starter(version("stub 2", "header 2"), starter.folder);
  CHECK(starter.text(".lab-progress") == "a9.ring solved\n");
  CHECK(starter.text("a9_x/answers.md") == "an answer");
  CHECK(starter.text("a9_x/student/helper.h") == "my helper");
}

TEST_CASE("a file that a student deleted comes back") {
  const Started starter;
  fs::remove(starter.folder + "/" + kTask);
  update_starter(version("stub 1", "header 1"), starter.folder);
  CHECK(starter.text(kTask) == "stub 1");
}

TEST_CASE("a folder with other things in it is refused, and stays as it is") {
  const TemporaryFolder folder;
  write_bytes(folder.file("thesis.txt"), "years of work");
  const std::string message = get_message([&] { update_starter(version("stub 1", "header 1"), folder.file("")); });
  CHECK(testing::contains(message, "expected a new or empty folder, or a starter to update"));
  CHECK(folder.num_files() == 1);
}

TEST_CASE("a folder in the place of a file is refused before anything is written") {
  const Started starter;
  fs::remove(starter.folder + "/" + kHeader);
  fs::create_directory(starter.folder + "/" + kHeader);
  const auto before = testing::times_below(starter.folder);
  CHECK(
      testing::contains(get_message([&] { update_starter(version("stub 2", "header 2"), starter.folder); }), kHeader));
  CHECK(testing::times_below(starter.folder) == before);
}

TEST_CASE("a list that names files elsewhere is refused") {
  const Started starter;
  for (const std::string path : {"../../etc/passwd", "/etc/passwd", ""}) {
    starter.edit(starter_list_path(), "12-0123456789abcdef " + path + "\n");
    const std::string message = get_message([&] { update_starter(version("2", "2"), starter.folder); });
    CHECK(testing::contains(message, "line 1: expected a checksum and a path inside the starter"));
  }
}

TEST_CASE("a new version that was unpacked is read whole, and only if it is untouched") {
  const Started starter;
  const StarterTree tree = version("stub 1", "header 1"), read = read_starter(starter.folder);
  REQUIRE(read.size() == tree.size());
  for (const auto& [path, file] : tree) {
    CHECK(read.at(path).bytes == file.bytes);
    CHECK(read.at(path).executable == file.executable);
  }
  starter.edit(kHeader, "my header");
  CHECK(testing::contains(get_message([&] { read_starter(starter.folder); }), "is not the file that was handed out"));
  CHECK(testing::contains(get_message([&] { read_starter(starter.parent.file("")); }), "expected a starter"));
}

TEST_CASE("fingerprints are FNV-1a's") {
  CHECK(compute_fingerprint("") == "0-cbf29ce484222325");
  CHECK(compute_fingerprint("foobar") == "6-85944171f73967e8");
}

}  // namespace
}  // namespace lab
