#include "grading/batch/roster.h"

#include "common/base/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

TEST_CASE("a gradebook of Canvas: its ids, names and rows") {
  const Roster roster(
      "Student,ID,SIS User ID,SIS Login ID,Section\n"
      "    Points Possible,,,,\n"
      "\"Lovelace, Ada\",4711,s1,ada,A\n"
      "\"Hopper, Grace Brewster\",4712,s2,grace,B\n"
      "\"Lovelace, Byron\",4713,s3,4712,B\n",
      "grades.csv");
  CHECK(roster.size() == 3);
  CHECK(roster.id_of(0) == "s1");
  CHECK(roster.name_of(1) == "Hopper, Grace Brewster");
  CHECK(roster.find({"4711", "", ""}) == 0u);
  CHECK(roster.find({"S3", "", ""}) == 2u);
  CHECK_FALSE(roster.find({"4712", "", ""}));  // one's id and another one's login
  CHECK(roster.find({"4712", "hoppergracebrewster", ""}) == 1u);
  CHECK(roster.find({"", "Grace Brewster Hopper", ""}) == 1u);
  CHECK_FALSE(roster.find({"", "Lovelace", ""}));
  CHECK_FALSE(roster.find({"", "", ""}));
  CHECK_FALSE(roster.find({"9", "Nobody", ""}));
}

TEST_CASE("what Canvas exports beside students is no student") {
  const Roster roster(
      "Student,ID,SIS User ID,SIS Login ID,Section,A9 (17),Final Score\n"
      ",,,,,Manual Posting,\n"
      "    Points Possible,,,,,100.00,(read only)\n"
      "\"Lovelace, Ada\",4711,s1,ada,A,EX,90\n"
      "\"Student, Test\",4713,,x,A,,\n",
      "grades.csv");
  CHECK(roster.size() == 1);
  CHECK(roster.points_possible().at(5) == "100.00");
  CHECK(roster.column("a9 (17)") == 5u);
  CHECK_FALSE(roster.column("A9"));
}

TEST_CASE("a grading worksheet of Moodle, and first and last names apart") {
  const Roster moodle("Identifier,Full name,Email address,Grade\nParticipant 4711,Ada Lovelace,ada@x.org,\n", "m.csv");
  CHECK(moodle.find({"4711", "", ""}) == 0u);
  CHECK(moodle.find({"", "", "ADA@x.org"}) == 0u);
  CHECK(moodle.id_of(0) == "Participant 4711");
  const Roster apart("First name;Last name;ID number\nAda;Lovelace;17\nGrace;Hopper;18\n", "a.csv");
  CHECK(apart.find({"", "Grace Hopper", ""}) == 1u);
  CHECK(apart.name_of(0) == "Ada Lovelace");
  CHECK(Roster("a,b\n1,x\n2,y\n", "b.csv", "B").id_of(1) == "y");
}

TEST_CASE("a roster that cannot be used says why") {
  CHECK_THROWS_WITH_AS(Roster("ID\n", "r.csv"), "r.csv: expected headings and a row for each student, got fewer rows",
                       UsageError);
  CHECK_THROWS_WITH_AS(Roster("ID\n1\n1\n", "r.csv"), "r.csv: expected each 'ID' once, got '1' twice", UsageError);
  CHECK_THROWS_WITH_AS(Roster("ID,x\n1,a\n,b\n", "r.csv"), "r.csv: a row has no 'ID': , b", UsageError);
  CHECK_THROWS_WITH_AS(Roster("Matric,x\n1,a\n", "r.csv", "Matrik"),
                       "r.csv: no column 'Matrik'; did you mean 'Matric'?", UsageError);
  CHECK_THROWS_WITH_AS(Roster("Matric,x\n1,a\n", "r.csv"),
                       "r.csv: which column says who a student is? Expected a heading such as SIS User ID, got Matric, "
                       "x; hint: --roster-id COLUMN",
                       UsageError);
}

}  // namespace
}  // namespace lab::grading
