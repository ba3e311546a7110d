#include "grading/batch/roster.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"
#include "grading/batch/csv.h"

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
  CHECK(roster.find_id(0) == "s1");
  CHECK(roster.get_name(1) == "Hopper, Grace Brewster");
  CHECK(roster.find({"4711", "", "", Student::IdOf::kCanvas}).row == 0u);
  CHECK(roster.find({"4712", "", "", Student::IdOf::kCanvas}).row == 1u);  // not whose login that is
  CHECK(roster.find({"S3", "", ""}).row == 2u);
  CHECK_FALSE(roster.find({"4712", "", ""}).row);  // one's id and another one's login
  CHECK(roster.find({"4712", "hoppergracebrewster", ""}).row == 1u);
  CHECK(roster.find({"", "Grace Brewster Hopper", ""}).row == 1u);
  CHECK_FALSE(roster.find({"", "Lovelace", ""}).row);
  CHECK_FALSE(roster.find({"", "", ""}).row);
  CHECK_FALSE(roster.find({"9", "Nobody", ""}).row);
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
  CHECK(moodle.find({"4711", "", ""}).row == 0u);
  CHECK(moodle.find({"", "", "ADA@x.org"}).row == 0u);
  CHECK(moodle.find_id(0) == "Participant 4711");
  const Roster apart("First name;Last name;ID number\nAda;Lovelace;17\nGrace;Hopper;18\n", "a.csv");
  CHECK(apart.find({"", "Grace Hopper", ""}).row == 1u);
  CHECK(apart.get_name(0) == "Ada Lovelace");
  CHECK_FALSE(moodle.find({"", "Ada Lovelace", "eve@x.org"}).row);  // another Ada
  CHECK(Roster("a,b\n1,x\n2,y\n", "b.csv", "B").find_id(1) == "y");
}

TEST_CASE("ids are looked for in columns of ids only, emails and names in theirs") {
  const Roster roster(
      "Name,Student ID,Email,Midterm,Partner\n"
      "Ada Lovelace,1,ada@x.org,88,Grace Hopper\n"
      "Grace Hopper,2,grace@x.org,1,Ada Lovelace\n"
      "Alan Turing,,alan@x.org,2,\n",
      "r.csv");
  CHECK_FALSE(roster.find({"88", "", ""}).row);
  CHECK(roster.find({"88", "Ada Lovelace", ""}).why_not ==
        "no student of r.csv has the id 88; the name Ada Lovelace there has another id or email");
  CHECK(roster.find({"1", "", ""}).row == 0u);
  CHECK(roster.find({"", "Grace Hopper", ""}).row == 1u);
  CHECK(roster.find({"9", "Alan Turing", ""}).row == 2u);  // has no id that could be another
  CHECK(roster.find({"alan@X.org", "", ""}).row == 2u);
  CHECK(roster.find_id(2) == "alan@x.org");
  CHECK(roster.find({"2", "Ada", "", Student::IdOf::kCanvas}).why_not == "no student of r.csv has the id 2");
  CHECK(roster.find({"2", "hoppergrace", "", Student::IdOf::kCanvas}).row == 1u);
  const Roster twins("Name,Email\nAda Lovelace,a@x.org\nLovelace Ada,b@x.org\n", "t.csv");
  CHECK(twins.find({"", "Ada Lovelace", ""}).why_not ==
        "several students of t.csv may be meant: Ada Lovelace; Lovelace Ada");
}

TEST_CASE("a row without the usual id is called by the next, empty rows are none, and a row without any is kept") {
  const Roster roster("SIS User ID,ID,Name,Mark\ns1,11,Ada,1\n,12,Grace,1\n,,,\n ,\xC2\xA0,,\n,,Alan,\n,,,7\n",
                      "r.csv");
  REQUIRE(roster.size() == 4);
  CHECK(roster.find_id(0) == "s1");
  CHECK(roster.find_id(1) == "12");
  CHECK(roster.find_id(2) == "Alan");
  CHECK(roster.find_id(3).empty());
  CHECK(roster.why_unidentified() == "no SIS User ID, ID or name in this row");
}

TEST_CASE("a roster that cannot be used says why") {
  CHECK_THROWS_WITH_AS(Roster("ID\n", "r.csv"), "r.csv: expected headings and a row for each student, got fewer rows",
                       UsageError);
  CHECK_THROWS_WITH_AS(
      Roster("ID,Name\n1,Ada\n1,Bob\n", "r.csv"),
      "r.csv: two rows have the ID '1': Ada and Bob; expected one row for each student; hint: delete one of "
      "them, or name another column with --roster-id",
      UsageError);
  CHECK_THROWS_WITH_AS(Roster("Matric,x\n1,a\n", "r.csv", "Matrik"),
                       "r.csv: no column 'Matrik'; did you mean 'Matric'?", UsageError);
  CHECK_THROWS_WITH_AS(Roster("Matric,x\n1,a\n", "r.csv"),
                       "r.csv: which column says who a student is? Expected a heading such as SIS User ID, ID number, "
                       "Username or Email, got Matric, x; hint: --roster-id COLUMN",
                       UsageError);
}

TEST_CASE("CSV as spreadsheets save it") {
  const std::vector<CsvRow> expected = {{"id", "name"}, {"1", "Lovelace, \"Ada\""}, {"2", ""}, {"3", "two\nlines"}};
  CHECK(parse_csv("id,name\n1,\"Lovelace, \"\"Ada\"\"\"\n2,\n3,\"two\nlines\"\n", "x.csv") == expected);
  CHECK(parse_csv("\xEF\xBB\xBFid;name\r\n1;\"Lovelace, \"\"Ada\"\"\"\r\n\r\n2;\r\n3;\"two\nlines\"", "x.csv") ==
        expected);
  CHECK(parse_csv("", "x.csv").empty());
  CHECK_THROWS_AS(parse_csv("id\n\"open\n", "x.csv"), UsageError);
  CHECK_THROWS_AS(parse_csv("id\na\"b\n", "x.csv"), UsageError);
}

TEST_CASE("what is written is read again, and no spreadsheet takes it for a formula") {
  CHECK(csv_line({"a", "b,c", "d\"e", "f\ng", "", "-2.5", "1e-3"}) == "a,\"b,c\",\"d\"\"e\",\"f\ng\",,-2.5,1e-3\n");
  CHECK(csv_line({"", "x"}) == ",x\n");
  for (const char* formula : {"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\n=1",
                              "\xEF\xBC\x9D"
                              "1+1"}) {
    CAPTURE(formula);
    const CsvRow read = parse_csv(csv_line({"x", formula}), "x.csv").front();
    CHECK(read.at(1) == std::string("'") + formula);
  }
  CHECK(csv_line({"-", "\r=1"}) == "-,'\xEF\xBF\xBD=1\n");
  const CsvRow row = {"=a,\"b\"", "c;d", " e "};
  CHECK(parse_csv(csv_line(row), "x.csv").front().at(1) == "c;d");
}

TEST_CASE("an identifier stays as it is, unless it could do harm") {
  const CsvRow row = {"-s1", "@ada", "+49", "=1+1", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "-s1"};
  CHECK(csv_line(row, {0, 1, 2, 3, 4, 5}) == "-s1,@ada,+49,'=1+1,'-2+cmd|' /C calc'!A0,'@SUM(A1),'-s1\n");
}

TEST_CASE("a field is text that is safe to show, and bounded") {
  CHECK(csv_line({"\x1b[31m", std::string("a\0b", 3), "\xE2\x80\xAE", "\xFF"}) ==
        "\xEF\xBF\xBD[31m,a\xEF\xBF\xBD"
        "b,\xEF\xBF\xBD,\xEF\xBF\xBD\n");
  CHECK(csv_line({std::string(1'000'000, '"')}).size() < 70'000);
}

}  // namespace
}  // namespace lab::grading
