#include "grading/batch/download_name.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

TEST_CASE("Canvas: user, upload and the student's own file name") {
  const auto only = [](const std::string& name) {
    const std::vector<DownloadName> names = canvas_names(name);
    REQUIRE(names.size() == 1);
    return names.front();
  };
  const DownloadName plain = only("lovelaceada_4711_98765_a9.zip");
  CHECK(plain.student.id == "4711");
  CHECK(plain.student.name == "lovelaceada");
  CHECK(plain.file == "a9.zip");
  CHECK(plain.version == 98765);
  CHECK_FALSE(plain.is_late);

  const DownloadName again = only("lovelaceada_LATE_4711_98770_my_hand_in-2.tar.gz");
  CHECK(again.file == "my_hand_in.tar.gz");
  CHECK(again.student.name == "lovelaceada");
  CHECK(again.is_late);
  CHECK(only("m\xC3\xBCllerj\xC3\xB6rg_1_2_a5_answers-1.md").file == "a5_answers.md");
  CHECK(only("agent_007_4711_98765_a9.zip").student.name == "agent_007");

  const DownloadName anonymous = only("anon_x7Yz2_LATE_98765_a9.zip");
  CHECK(anonymous.student.empty());
  CHECK(anonymous.anonymous == "anon_x7Yz2");
  CHECK(anonymous.is_late);
  CHECK(only("anon_12345_98765_a9.zip").student.empty());  // not user 12345

  for (const char* other : {"a9.zip", "alice", "a9_collectives", "s1234_a9.zip", "x_1_2_", "_1_2_a9.zip", ""})
    CHECK(canvas_names(other).empty());
}

TEST_CASE("Canvas: names of groups and files may have numbers, too; the likeliest meaning comes first") {
  const auto users = [](const std::string& name) {
    std::string all;
    for (const DownloadName& one : canvas_names(name)) all += one.student.name + "," + one.student.id + " ";
    return all;
  };
  CHECK(users("team_1_4711_98765_a9.zip") == "team_1,4711 team,1 ");
  CHECK(users("lovelaceada_4711_98765_2_a9.zip") == "lovelaceada,4711 lovelaceada_4711,98765 ");
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
  CHECK(moodle_name("Ada Lovelace_4711_assignsubmission_onlinetext_")->student.id == "4711");
  CHECK(moodle_name("Eve_12_assignsubmission_file_x_11_assignsubmission_file_a.zip")->student.id == "12");
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

TEST_CASE("composed and decomposed letters are the same, and upper and lower case of any alphabet") {
  CHECK(folded("M\xC3\x9CLLER") == folded("mu\xCC\x88ller"));
  CHECK(folded("\xCE\xA3\xCE\x8F\xCE\x9A\xCE\xA1\xCE\x91\xCE\xA4\xCE\x97\xCE\xA3") ==
        folded("\xCF\x83\xCF\x8E\xCE\xBA\xCF\x81\xCE\xB1\xCF\x84\xCE\xB7\xCF\x82"));  // a final sigma
  CHECK(folded("\xC2\xA0 S1\t") == "s1");                                             // a blank that does not break
  CHECK(folded("\xFF") == "\xFF");                                                    // not UTF-8
  CHECK(folded("") == "");
  CHECK(folded("Jose") != folded("Jos\xC3\xA9"));
  CHECK(keep_letters("SIS User ID") == keep_letters("sis_user-id"));
}

TEST_CASE("one name, as platforms write it") {
  CHECK(is_same_name("Lovelace, Ada", "Ada  Lovelace"));
  CHECK(is_same_name("Lovelace, Ada King", "lovelaceadaking"));
  CHECK(is_same_name("Ada Lovelace", "lovelaceada"));
  CHECK(
      is_same_name("O\xE2\x80\x99"
                   "Brien, Anne-Marie",
                   "obrienannemarie"));
  CHECK(is_same_name("M\xC3\xBCller, J\xC3\xB6rg", "mu\xCC\x88llerjo\xCC\x88rg"));
  CHECK_FALSE(is_same_name("Ada Lovelace", "Lovelace"));
  CHECK_FALSE(is_same_name("Ada Lovelace", "adalovelac"));
  CHECK_FALSE(is_same_name("", ""));
  CHECK_FALSE(is_same_name("-", "-"));
  CHECK_FALSE(is_same_name("a b c d e f g h", "abcdefgh"));  // nobody tries all orders
}

}  // namespace
}  // namespace lab::grading
