// Whatever a student can name or print, in every form that results are written in.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/base/text.h"
#include "common/course/annotation.h"
#include "common/page/junit_xml.h"
#include "common/plot/timeline_json.h"
#include "common/testing/junit_schema.h"
#include "common/testing/plain_test.h"
#include "grading/batch/class_marks.h"
#include "grading/batch/csv.h"
#include "grading/batch/gradebook_import.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using Json = nlohmann::json;

std::vector<std::string> hostile_texts() {
  return {"\x1b[31mred\x1b]0;title\x07",
          "<script>alert(1)</script><img src=x onerror=alert(1)>",
          "=HYPERLINK(\"http://x.example\",\"y\")",
          "+cmd|' /C calc'!A0",
          "-2+3+cmd|' /C calc'!A0",
          "@SUM(1+1)*cmd|' /C calc'!A0",
          "\t=1+1",
          "]]><x/><![CDATA[",
          "--><x/><!--",
          "::error file=a.cpp,line=1::forged",
          "  ::add-mask::a",
          "x\n::stop-commands::t\r::set-output name=a::b",
          "a ##[error]forged ##vso[task.setvariable variable=a]b",
          std::string("nul\0nul", 7),
          "invalid \xFF\xFE\xC0\xAF\xED\xA0\x80 UTF-8",
          "bidi \xE2\x80\xAE gnp.exe \xE2\x81\xA6",
          "C1 \xC2\x9B[31m",
          "no character \xEF\xBF\xBF\xEF\xBF\xBE",
          "[link](javascript:alert(1)) ![x](http://x.example) | cell | `code` # head",
          "\"; DROP TABLE x; \"\"",
          "%0A::error::x%0D",
          "&#0; &lt; &amp;",
          std::string(1'000'000, 'x'),
          std::string(1'000'000, '\n'),
          ""};
}

/// What no text may hold: invalid UTF-8, control characters, marks that reorder it.
void check_text(const std::string& text) {
  CHECK(is_utf8(text));
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) FAIL_CHECK("control character " << int{byte});
  }
  for (const char* mark : {"\xE2\x80\xAE", "\xE2\x81\xA6", "\xC2\x9B"}) CHECK(text.find(mark) == std::string::npos);
  CHECK(text.size() < 400'000);
}

/// What a CI service would take for a command, by the rules of actions/runner's ActionCommand.cs.
std::vector<std::string> commands_in(const std::string& log) {
  std::vector<std::string> commands;
  std::string lines = log;
  std::replace(lines.begin(), lines.end(), '\r', '\n');
  for (const std::string& line : list_lines(lines)) {
    const std::size_t begin = line.find_first_not_of(" \t\v\f\n");
    const bool is_command = begin != std::string::npos && line.compare(begin, 2, "::") == 0;
    if (is_command || line.find("##[") != std::string::npos || line.find("##vso[") != std::string::npos)
      commands.push_back(line);
  }
  return commands;
}

/// A check that failed for this reason, in a submission where every other text is the same.
LabOutcome outcome_with(const std::string& text) {
  TaskOutcome task;
  task.id = "a9.x";
  task.worth = Worth::kAsChecked;
  task.checks = {{"Check", Worth::kFailed, text}, {"Other", Worth::kPassed}};
  task.reason = text;
  LabOutcome outcome;
  outcome.lab = "a9_collectives";
  outcome.tasks["a9.x"] = task;
  outcome.notes = {text, text};
  outcome.isolation = text;
  outcome.seed = "--seed 1";  // never a student's
  outcome.evidence = {{text, text}};
  return outcome;
}

LabMarks marks_with(const std::string& text) {
  Rubric rubric;
  rubric.lab = "a9_collectives";
  rubric.total = 10;
  rubric.tasks.emplace_back();
  rubric.tasks[0].id = "a9.x";
  rubric.tasks[0].title = "X";
  rubric.tasks[0].marks = 10;
  return compute_marks(rubric, outcome_with(text), {});
}

MarkedStudent student_with(const std::string& text) {
  MarkedStudent student;
  student.roster_row = 0;
  student.identity = {text, text};
  student.who = text;
  student.hand_ins = {text};
  student.remarks = {text};
  student.open = {text};
  student.labs["a9_collectives"] = marks_with(text);
  student.handed_in["a9_collectives"] = "v";
  return student;
}

/// The text as a quoted field, as a platform would export it.
std::string field(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}

/// A table that is safe to open: no cell is a formula.
void check_csv(const std::string& csv) {
  check_text(csv);
  for (const CsvRow& row : parse_csv(csv, "x.csv")) {
    for (const std::string& cell : row) {
      if (cell.size() < 2 || std::string("=+-@\t\r\n").find(cell.front()) == std::string::npos) continue;
      FAIL_CHECK("formula: " << cell.substr(0, 100));
    }
  }
}

TEST_CASE("report.md: no HTML, no escape, and no line but ours begins a heading or table") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::string report = to_markdown(marks_with(text), outcome_with(text));
    check_text(report);
    bool in_block = false;
    for (const std::string& line : list_lines(report)) {
      if (line.compare(0, 3, "```") == 0) in_block = !in_block;
      if (in_block) continue;
      for (std::size_t at = 0; (at = line.find('<', at)) != std::string::npos; ++at) {
        const bool is_code = std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), '`') % 2 == 1;
        if (!is_code) CHECK_MESSAGE((at > 0 && line[at - 1] == '\\'), line.substr(0, 200));
      }
      for (std::size_t at = 0; (at = line.find("](", at)) != std::string::npos; ++at)
        CHECK_MESSAGE((at > 0 && line[at - 1] == '\\'), line.substr(0, 200));
    }
    CHECK_FALSE(in_block);
  }
}

TEST_CASE("report.html: no markup but ours, also in a timeline") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    LabOutcome outcome = outcome_with(text);
    plot::Timeline timeline;
    timeline.num_ranks = 1;
    timeline.title = text;
    timeline.clocks.push_back({text, {{0, 0, 1, text, text}}, {{0, 0, 0, 1, text, text}}});
    timeline.legend.push_back({plot::kWhite, text});
    outcome.tasks["a9.x"].checks[0].timeline =
        plot::to_json(timeline).dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string page = to_html(marks_with(text), outcome);
    check_text(page);
    CHECK(page.find("<img") == std::string::npos);
    CHECK(page.find("<svg") != std::string::npos);
    const std::size_t script = page.find("<script");
    CHECK(page.find("<script", script + 1) == std::string::npos);
  }
}

TEST_CASE("results.json: JSON of plain text") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::string json = to_gradescope_json(marks_with(text), outcome_with(text));
    check_text(json);
    const Json results = Json::parse(json);
    check_text(results["output"]);
    check_text(results["tests"][0]["output"]);
    CHECK(results["output_format"] == "text");
    CHECK(results["tests"][0]["output_format"] == "text");
    CHECK(results["tests"].size() == 1);
  }
}

TEST_CASE("marks.csv, canvas.csv and moodle.csv: no formula, and one row for each student") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::vector<MarkedStudent> students = {student_with(text)};
    const std::vector<std::string> labs = {"a9_collectives"};
    check_csv(marks_csv(nullptr, students, labs));
    CHECK(parse_csv(marks_csv(nullptr, students, labs), "m.csv").size() == 2);
    const std::string cells = field(text) + ",1," + field("s" + text) + "," + field(text);
    const Roster canvas("Student,ID,SIS User ID,Section,A9 (1)\n" + cells + ",\n", "r.csv");
    check_csv(marks_csv(&canvas, students, labs));
    const std::string canvas_csv = GradebookImport(canvas, labs, {}).of(students, labs, false).csv;
    check_csv(canvas_csv);
    CHECK(parse_csv(canvas_csv, "c.csv").at(1).at(1) == "1");
    CHECK(parse_csv(canvas_csv, "c.csv").at(1).at(4) == "5");
    const Roster moodle("Identifier,Full name,Email address,Grade,Feedback comments\nParticipant 1," + field(text) +
                            "," + field(text) + ",,\n",
                        "r.csv");
    const std::string moodle_csv = GradebookImport(moodle, labs, {}).of(students, labs, false).csv;
    check_csv(moodle_csv);
    CHECK(parse_csv(moodle_csv, "m.csv").at(1).at(0) == "Participant 1");
    CHECK(parse_csv(moodle_csv, "m.csv").at(1).at(4) == "A9: 5 of 10<br>X: 5 of 10");
  }
}

TEST_CASE("JUnit XML: one test, whatever it says") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::string xml = to_junit_xml({{text, {{text, text, JunitCase::Outcome::kFailed, text, text}}}});
    check_text(xml);
    CHECK(lab::testing::junit_violations(xml) == std::vector<std::string>());
    const std::vector<JunitSuite> read = junit_suites(xml, "x.xml");
    REQUIRE(read.size() == 1);
    REQUIRE(read[0].cases.size() == 1);
    CHECK(read[0].cases[0].outcome == JunitCase::Outcome::kFailed);
  }
}

TEST_CASE("an annotation is one command of one line, with our properties only") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::string line = to_text(Annotation{"f" + text, 3, text, text});
    check_text(line);
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    CHECK(line.rfind("::error file=f", 0) == 0);
    const std::size_t end = line.find("::", 2);
    const std::string properties = line.substr(8, end - 8);
    CHECK(std::count(properties.begin(), properties.end(), ',') == 2);
    CHECK(line.find(",line=3,title=") < end);
    CHECK(line.find("%0A::error") == std::string::npos);  // a % of the text is %25
  }
}

TEST_CASE("a line of a log is no command to a CI service, and no escape to a terminal") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    const std::string line = "  " + without_commands(safe_text(one_line(text), 1000)) + "\n";
    check_text(line);
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    CHECK(commands_in(line) == std::vector<std::string>());
    CHECK(commands_in(without_commands(text)) == std::vector<std::string>());
  }
  CHECK(commands_in("  ::error::x\na ##[group]\nb").size() == 2);
}

}  // namespace
}  // namespace lab::grading
