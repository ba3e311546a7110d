#include "grading/batch/gradebook_import.h"

#include <limits>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "grading/batch/csv.h"

namespace lab::grading {
namespace {

using lab::testing::get_message;

const std::vector<std::string> kLabs = {"a4_data_tensor", "a9_collectives", "optC_model_parallel"};

LabMarks make_mark(double reached, double pending = 0, double not_judged = 0) {
  LabMarks of_lab;
  of_lab.lab = "a9_collectives";
  of_lab.marks = reached;
  of_lab.pending = pending;
  of_lab.not_judged = not_judged;
  of_lab.total = 100;
  return of_lab;
}

MarkedStudent student_with(std::size_t row, const std::string& lab, const LabMarks& of_lab) {
  MarkedStudent one;
  one.roster_row = row;
  one.who = "s" + std::to_string(row);
  one.handed_in[lab] = "v";
  one.labs[lab] = of_lab;
  return one;
}

constexpr char kCanvas[] =
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,A90 x (1),A9 Collectives (123456),A4 (2),Final Score\n"
    ",,,,,,,Manual Posting,,\n"
    "    Points Possible,,,,,,10,100.00,120,(read only)\n"
    "\"Lovelace, Ada\",11,s11,@ada,A,tall,1,,2,3\n"
    "\"=1+1, Grace\",12,-s12,grace,B,,1,7.00,2,3\n"
    "\"Turing, Alan\",13,s13,alan,B,,1,EX,2,3\n"
    "\"Noether, Emmy\",14,s14,=cmd|x,B,,1,5,2,3\n"
    "\"Student, Test\",15,,t,B,,1,,2,3\n";

TEST_CASE(
    "Canvas: the assignment's column is kept and filled in, next to what students are found by, and nothing else") {
  const Roster roster(kCanvas, "r.csv");
  const GradebookImport book(roster, kLabs, {});
  CHECK(book.file() == "canvas.csv");
  const auto result =
      book.of({student_with(0, "a9_collectives", make_mark(200.0 / 3)), student_with(1, "a9_collectives", make_mark(0)),
               student_with(2, "a9_collectives", make_mark(50))},
              {"a9_collectives"}, false);
  CHECK(result.csv ==
        "Student,ID,SIS User ID,SIS Login ID,Section,A9 Collectives (123456)\n"
        "Points Possible,,,,,100.00\n"
        "\"Lovelace, Ada\",11,s11,@ada,A,66.66\n"
        "\"'=1+1, Grace\",12,-s12,grace,B,0\n"
        "\"Turing, Alan\",13,s13,alan,B,EX\n"
        "\"Noether, Emmy\",14,s14,'=cmd|x,B,5\n");
  CHECK(result.notes.empty());
}

TEST_CASE("marks that are not final stay as they were exported, with the reason") {
  const Roster roster(kCanvas, "r.csv");
  const GradebookImport book(roster, kLabs, {});
  const std::vector<MarkedStudent> students = {
      student_with(0, "a9_collectives", make_mark(60, 5)), student_with(1, "a9_collectives", make_mark(60, 0, 5)),
      student_with(3, "a9_collectives", make_mark(std::numeric_limits<double>::quiet_NaN()))};
  const auto cells = [&](bool with_pending) {
    CsvRow column;
    for (const CsvRow& row : parse_csv(book.of(students, {"a9_collectives"}, with_pending).csv, "c.csv"))
      column.push_back(row.back());
    return column;
  };
  CHECK(cells(false) == CsvRow{"A9 Collectives (123456)", "100.00", "", "7.00", "EX", "5"});
  CHECK(cells(true) == CsvRow{"A9 Collectives (123456)", "100.00", "60", "7.00", "EX", "5"});
  const auto result = book.of(students, {"a9_collectives"}, false);
  CHECK(result.notes == std::vector<std::string>{
                            "canvas.csv of a9: not filled in: s11: 5 marks are pending; -s12: 5 marks are not judged; "
                            "s14: the marks are not a number; --with-pending takes pending marks as 0"});
  CHECK(result.not_filled_in.at(1) == "not in canvas.csv of a9: 5 marks are not judged");
  CHECK(book.of(students, {"a9_collectives"}, true).not_filled_in.size() == 2);
}

TEST_CASE("what is not handed in now, disputed or not in the roster changes no cell") {
  const Roster roster(kCanvas, "r.csv");
  const GradebookImport book(roster, kLabs, {});
  std::vector<MarkedStudent> students = {student_with(0, "a9_collectives", make_mark(60)),
                                         student_with(1, "a9_collectives", make_mark(60)),
                                         student_with(3, "a9_collectives", make_mark(60))};
  students[0].handed_in.clear();
  students[1].withheld["a9_collectives"] = "another has the same signature";
  students[2].roster_row.reset();
  const auto result = book.of(students, {"a9_collectives"}, false);
  CHECK(result.csv == book.of({}, {"a9_collectives"}, false).csv);
  CHECK(result.not_filled_in.size() == 1);
  CHECK(why_not_final(students[0], "a9_collectives", false) == "nothing of it was graded");
  CHECK(why_not_final(students[2], "a9_collectives", false) == "not in the roster");
}

TEST_CASE("a column is named, or guessed where only one fits; else the lab is left out, with a note") {
  const Roster roster(kCanvas, "r.csv");
  const std::vector<MarkedStudent> students = {student_with(0, "a9_collectives", make_mark(60)),
                                               student_with(0, "optC_model_parallel", make_mark(70))};
  const GradebookImport named(roster, kLabs, {"a9=A4 (2)", "optC=Notes"});
  const auto result = named.of(students, {"a9_collectives", "optC_model_parallel"}, false);
  CHECK(parse_csv(result.csv, "c.csv")[2] == CsvRow{"Lovelace, Ada", "11", "s11", "@ada", "A", "70", "60"});
  CHECK(result.notes == std::vector<std::string>{
                            "canvas.csv of a9: the platform counts 120 marks, the rubric 100; they are not scaled"});
  const auto guessed = GradebookImport(roster, kLabs, {}).of(students, {"optC_model_parallel"}, false);
  CHECK(guessed.csv.empty());
  CHECK(guessed.notes ==
        std::vector<std::string>{
            "canvas.csv of optC: expected its column, such as --column 'optC=Notes'; there are: Notes, "
            "A90 x (1), A9 Collectives (123456), A4 (2)"});
  const Roster two("Student,ID,Section,A9 code (1),a9: words (2),x (a9)\nA,1,B,,,\n", "r.csv");
  CHECK(GradebookImport(two, kLabs, {}).of(students, {"a9_collectives"}, false).notes[0] ==
        "canvas.csv of a9: expected its column, such as --column 'a9=A9 code (1)'; there are: A9 code (1), a9: words "
        "(2)");
}

TEST_CASE("of several labs, those get marks whose column is named; a roster without students is no problem") {
  const Roster both("Student,ID,Section,A4 (1),A9 (2)\nA,1,B,,3\n", "r.csv");
  const std::vector<MarkedStudent> students = {student_with(0, "a4_data_tensor", make_mark(60))};
  const std::vector<std::string> labs = {"a4_data_tensor", "a9_collectives"};
  const auto unclear = GradebookImport(both, kLabs, {}).of(students, labs, false);
  CHECK(unclear.csv.empty());
  CHECK(unclear.is_unclear);
  CHECK(unclear.notes.at(0) ==
        "canvas.csv of a4: expected its column, such as --column 'a4=A4 (1)'; or one lab with --lab: a4_data_tensor, "
        "a9_collectives are handed in");
  const auto named = GradebookImport(both, kLabs, {"a4=A4 (1)"}).of(students, labs, false);
  CHECK(parse_csv(named.csv, "c.csv")[1] == CsvRow{"A", "1", "B", "60"});
  CHECK_FALSE(named.is_unclear);
  const Roster nobody("Student,ID,Section,A9 (1)\n,,,Manual Posting\n", "r.csv");
  CHECK(GradebookImport(nobody, kLabs, {}).of({}, {"a9_collectives"}, false).csv == "Student,ID,Section,A9 (1)\n");
}

TEST_CASE("a wrong --column is refused before anything is graded") {
  const Roster roster(kCanvas, "r.csv");
  const auto refusal = [&](const std::vector<std::string>& columns) {
    return get_message([&] { GradebookImport(roster, kLabs, columns); });
  };
  CHECK(
      refusal({"a9=A9 Colectives (123456)"}) ==
      "--column: the roster has no column 'A9 Colectives (123456)' that marks can go into; expected one of: Notes, A90 "
      "x (1), A9 Collectives (123456), A4 (2); did you mean 'A9 Collectives (123456)'?");
  CHECK(refusal({"a9=Final Score"}).find("has no column 'Final Score'") != std::string::npos);
  CHECK(refusal({"a9=ID"}).find("has no column 'ID'") != std::string::npos);
  CHECK(refusal({"b9=A4 (2)"}) == "unknown lab 'b9'; did you mean 'a9'?");
  CHECK(refusal({"A4 (2)"}).find("--column: expected LAB=COLUMN") == 0);
  CHECK(refusal({"a9=A4 (2)", "a9=Notes"}) == "--column: expected each lab and column once, got 'a9=Notes' again");
  CHECK(refusal({"a9=A4 (2)", "a4=A4 (2)"}) == "--column: expected each lab and column once, got 'a4=A4 (2)' again");
  const Roster list("ID\n1\n", "r.csv");
  CHECK(GradebookImport(list, kLabs, {}).file().empty());
  CHECK(GradebookImport(list, kLabs, {}).of({}, kLabs, false).csv.empty());
  CHECK(get_message([&] { GradebookImport(list, kLabs, {"a9=x"}); }).find("expected a roster that Canvas exports") !=
        std::string::npos);
}

constexpr char kMoodle[] =
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified "
    "(submission),Last "
    "modified (grade),Feedback comments\n"
    "Participant 11,Ada Lovelace,-ada@x.org,Submitted,,100.00,Yes,\"Monday, 1 June 2026, 10:00 AM\",-,\n"
    "Participant 12,@Grace Hopper,grace@x.org,Submitted,7.00,100.00,Yes,-,-,well done\n";

TEST_CASE("Moodle: the worksheet as it was, with grades, and feedback that is HTML of what is visible") {
  const Roster roster(kMoodle, "r.csv");
  const GradebookImport book(roster, kLabs, {});
  CHECK(book.file() == "moodle.csv");
  LabMarks ada = make_mark(61.25);
  MarkedItem task, hidden;
  task.id = "a9.x";
  task.title = "x < <b>y</b> & \"z\"";
  task.marks = 1;
  task.out_of = 2;
  hidden = task;
  hidden.title = "secret";
  ada.items = {task};
  const auto feedback = [&] {
    const auto result =
        book.of({student_with(0, "a9_collectives", ada), student_with(1, "a9_collectives", make_mark(5, 1))},
                {"a9_collectives"}, false);
    const std::vector<CsvRow> rows = parse_csv(result.csv, "m.csv");
    CHECK(rows[0] == roster.headings());
    CHECK(rows[1][0] == "Participant 11");
    CHECK(rows[1][2] == "-ada@x.org");
    CHECK(rows[1][4] == "61.25");
    CHECK(rows[1][7] == "Monday, 1 June 2026, 10:00 AM");
    CHECK(rows[2] == CsvRow{"Participant 12", "'@Grace Hopper", "grace@x.org", "Submitted", "7.00", "100.00", "Yes",
                            "-", "-", "well done"});
    return rows[1][9];
  };
  CHECK(feedback() == "A9: 61.2 of 100<br>x &lt; &lt;b&gt;y&lt;/b&gt; &amp; &quot;z&quot;: 1 of 2");
  hidden.visibility = Visibility::kAfterPublished;
  ada.items = {task, hidden};
  CHECK(feedback().find("A9: 1 of 2<br>Some of it is not shown") == 0);
  CHECK(feedback().find("secret") == std::string::npos);
}

TEST_CASE("Moodle: a worksheet is of one assignment") {
  const Roster roster(kMoodle, "r.csv");
  const std::vector<MarkedStudent> students = {student_with(0, "a9_collectives", make_mark(60)),
                                               student_with(1, "a4_data_tensor", make_mark(70))};
  const std::vector<std::string> both = {"a4_data_tensor", "a9_collectives"};
  const auto unnamed = GradebookImport(roster, kLabs, {}).of(students, both, false);
  CHECK(unnamed.csv.empty());
  REQUIRE(unnamed.notes.size() == 2);
  CHECK(unnamed.notes[1] ==
        "moodle.csv of a9: expected its column, such as --column 'a9=Grade'; or one lab with --lab: a4_data_tensor, "
        "a9_collectives are handed in");
  const auto named = GradebookImport(roster, kLabs, {"a9=Grade"}).of(students, both, false);
  CHECK(parse_csv(named.csv, "m.csv")[1][4] == "60");
  CHECK(parse_csv(named.csv, "m.csv")[2][4] == "7.00");
  CHECK(named.notes.empty());
}

TEST_CASE("a student who handed a lab in by two names gets no mark by chance") {
  const Roster roster(kMoodle, "r.csv");
  MarkedStudent again = student_with(1, "a9_collectives", make_mark(90));
  again.who = "other";
  const auto result = GradebookImport(roster, kLabs, {})
                          .of({student_with(1, "a9_collectives", make_mark(60)), again}, {"a9_collectives"}, false);
  CHECK(parse_csv(result.csv, "m.csv")[2][4] == "7.00");
  CHECK(result.not_filled_in.at(0) == "not in moodle.csv of a9: handed in twice, under different names");
  CHECK(result.not_filled_in.size() == 2);
}

}  // namespace
}  // namespace lab::grading
