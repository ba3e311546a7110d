#include "grading/batch/download_name.h"

#include "common/base/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

TEST_CASE("Canvas: user, upload and the student's own file name") {
  const auto plain = canvas_name("lovelaceada_4711_98765_a9.zip");
  REQUIRE(plain);
  CHECK(plain->student.id == "4711");
  CHECK(plain->student.name == "lovelaceada");
  CHECK(plain->file == "a9.zip");
  CHECK(plain->version == 98765);
  CHECK_FALSE(plain->is_late);

  const auto again = canvas_name("lovelaceada_LATE_4711_98770_my_hand_in-2.tar.gz");
  REQUIRE(again);
  CHECK(again->file == "my_hand_in.tar.gz");
  CHECK(again->is_late);
  CHECK(again->version > plain->version);
  CHECK(canvas_name("müllerjörg_1_2_a5_answers-1.md")->file == "a5_answers.md");

  for (const char* other : {"a9.zip", "alice", "a9_collectives", "s1234_a9.zip", "x_1_2_", ""})
    CHECK_FALSE(canvas_name(other));
}

TEST_CASE("Moodle: with folders and without") {
  const auto folder = moodle_name("Ada Lovelace_4711_assignsubmission_file_");
  REQUIRE(folder);
  CHECK(folder->student.id == "4711");
  CHECK(folder->student.name == "Ada Lovelace");
  CHECK(folder->file.empty());
  CHECK(moodle_name("Ada Lovelace_4711_assignsubmission_file")->file.empty());
  CHECK(moodle_name("Ada_M Lovelace_4711_assignsubmission_file_a_9.zip")->file == "a_9.zip");
  CHECK(moodle_name("Ada_M Lovelace_4711_assignsubmission_file_a_9.zip")->student.name == "Ada_M Lovelace");
  CHECK_FALSE(moodle_name("Ada Lovelace_4711_assignsubmission_onlinetext_"));
  CHECK_FALSE(moodle_name("lovelaceada_4711_98765_a9.zip"));
}

TEST_CASE("other names by a pattern") {
  const NamePattern pattern("{id}-{any}-{file}");
  const auto found = pattern.match("s1234-2026-a9-last.zip");
  REQUIRE(found);
  CHECK(found->student.id == "s1234");
  CHECK(found->file == "a9-last.zip");
  CHECK_FALSE(pattern.match("s1234"));
  CHECK(NamePattern("({name}).[x]+{file}").match("(Ada).[x]+a.zip")->student.name == "Ada");  // no regular expression

  CHECK_THROWS_WITH_AS(NamePattern("{who}_{file}"),
                       "--names {who}_{file}: expected the placeholders {id}, {name}, {file}, {any}, got {who}",
                       UsageError);
  CHECK_THROWS_WITH_AS(NamePattern("{id}{id}"), "--names {id}{id}: expected {id} once, got it twice", UsageError);
  CHECK_THROWS_AS(NamePattern("{file}"), UsageError);
  CHECK_THROWS_AS(NamePattern("{id"), UsageError);
}

}  // namespace
}  // namespace lab::grading
