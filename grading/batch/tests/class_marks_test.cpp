#include "grading/batch/class_marks.h"

#include "common/testing/plain_test.h"
#include "grading/batch/csv.h"

namespace lab::grading {
namespace {

LabMarks marks(double reached, double total) {
  LabMarks of_lab;
  of_lab.marks = reached;
  of_lab.total = total;
  of_lab.pending = 2.5;
  return of_lab;
}

std::vector<MarkedStudent> two_students() {
  MarkedStudent ada;
  ada.roster_row = 0;
  ada.identity = {"Ada", "s1"};
  ada.who = "s1";
  ada.hand_ins = {"x.zip", "y.zip"};
  ada.is_late = true;
  ada.labs["a9_collectives"] = marks(61.25, 100);
  MarkedStudent eve;
  eve.identity = {"=Eve", "e"};
  eve.who = "e";
  eve.open = {"not graded: a, b"};
  return {ada, eve};
}

TEST_CASE("a row for each student: of the roster, of a group, and of nobody's roster") {
  const Roster roster("ID\ns1\ns2\ns3\n", "r.csv");
  ClassPlan plan;
  PlannedHandIn group, stranger;
  group.hand_in.shown = "group.zip";
  group.hand_in.is_late = true;
  group.who = "s3";
  group.roster_rows = {2, 0};
  group.labs = {"a9_collectives"};
  group.scanned.versions["a9_collectives"] = "v";
  stranger.who = "eve";
  stranger.open = {"not graded: no lab is in it"};
  stranger.hand_in.is_late = true;  // with nothing that counts
  plan.hand_ins = {stranger, group};
  plan.missing = {1};
  const std::vector<MarkedStudent> students = list_students(plan, &roster);
  REQUIRE(students.size() == 4);
  for (const std::size_t of_group : {0u, 2u}) {
    CHECK(students[of_group].roster_row == of_group);
    CHECK(students[of_group].who == "s3");
    CHECK(students[of_group].hand_ins == std::vector<std::string>{"group.zip"});
    CHECK(students[of_group].is_late);
  }
  CHECK(students[1].remarks == std::vector<std::string>{"nothing handed in"});
  CHECK_FALSE(students[3].roster_row);
  CHECK(students[3].open == std::vector<std::string>{"not graded: no lab is in it"});
  CHECK_FALSE(students[3].is_late);
}

TEST_CASE("marks as CSV: the roster's columns, then ours") {
  const Roster roster("ID,Section\ns1,\"A, B\"\n", "r.csv");
  const std::vector<CsvRow> rows =
      parse_csv(marks_csv(&roster, two_students(), {"a4_data_tensor", "a9_collectives"}), "m.csv");
  CHECK(rows ==
        std::vector<CsvRow>{{"ID", "Section", "who", "hand-in", "late", "a4 marks", "a4 of", "a4 pending",
                             "a4 not judged", "a9 marks", "a9 of", "a9 pending", "a9 not judged", "remarks"},
                            {"s1", "A, B", "s1", "x.zip y.zip", "late", "", "", "", "", "61.25", "100", "2.5", "0", ""},
                            {"", "", "e", "", "", "", "", "", "", "", "", "", "", "not graded: a, b"}});
}

TEST_CASE("marks as CSV without a roster: id and name as handed in, which no spreadsheet executes") {
  CHECK(marks_csv(nullptr, two_students(), {}) ==
        "id,name,who,hand-in,late,remarks\ns1,Ada,s1,x.zip y.zip,late,\ne,'=Eve,e,,,\"not graded: a, b\"\n");
}

}  // namespace
}  // namespace lab::grading
