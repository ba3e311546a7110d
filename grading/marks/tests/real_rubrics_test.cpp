#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <sstream>

#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/marks/answer_key.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/manual_marks.h"
#include "grading/marks/tests/sample_marks.h"

// The five labs' rubrics, as they are.
namespace lab::grading {
namespace {

const std::vector<std::string> kLabs = {"a4_data_tensor", "a5_pipeline", "a9_collectives", "vae_sequence_parallel",
                                        "optC_model_parallel"};

std::string get_folder(const std::string& lab) {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return std::string(source_dir) + "/" + lab;
}

Rubric load_lab_rubric(const std::string& lab) {
  return load_rubric(get_folder(lab) + "/rubric.toml");
}

/// Every task right, every answer handed in.
LabOutcome all_right(const Rubric& rubric) {
  LabOutcome outcome;
  outcome.lab = rubric.lab;
  for (const RubricTask& task : rubric.tasks) outcome.tasks[task.id] = testing::judged(task.id, {Worth::kPassed});
  // A need of a rung that is neither a task nor a manual item is a single check.
  for (const RubricLadder& ladder : rubric.ladders) {
    for (const RubricRung& rung : ladder.rungs) {
      for (const std::string& need : rung.needs) {
        CaseVerdict check;
        check.name = need;
        check.worth = Worth::kPassed;
        if (need.find('.') == std::string::npos) outcome.tasks.begin()->second.checks.push_back(check);
      }
    }
  }
  for (const RubricManual& manual : rubric.manuals) outcome.answers[manual.file] = "the student's words";
  return outcome;
}

std::vector<ManualMark> full_marks_by_hand(const Rubric& rubric, const LabOutcome& outcome) {
  std::vector<ManualMark> marks;
  for (const RubricManual& manual : rubric.manuals)
    marks.push_back({manual.id, most_marks(manual), "", find_version(rubric, manual, outcome.answers)});
  return marks;
}

TEST_CASE("real rubrics: everything right is every automatic mark, and only a person's are pending") {
  for (const std::string& lab : kLabs) {
    INFO(lab);
    const Rubric rubric = load_lab_rubric(lab);
    const LabMarks marks = compute_marks(rubric, all_right(rubric), {});
    CHECK(marks.marks + marks.pending == doctest::Approx(rubric.total + rubric.bonus_total));
    for (const MarkedItem& item : marks.items) {
      INFO(item.id);
      if (item.worth == Worth::kPassed) {
        CHECK(item.marks == item.out_of);
        CHECK(item.pending == 0);
      } else {
        CHECK((item.worth == Worth::kPending));
        CHECK((item.kind == MarkedItem::Kind::kManual || item.kind == MarkedItem::Kind::kLadder));
      }
    }
  }
}

TEST_CASE("real rubrics: with full marks by hand, nothing is pending") {
  for (const std::string& lab : kLabs) {
    INFO(lab);
    const Rubric rubric = load_lab_rubric(lab);
    const LabMarks marks = compute_marks(rubric, all_right(rubric), full_marks_by_hand(rubric, all_right(rubric)));
    CHECK(marks.marks == doctest::Approx(rubric.total + rubric.bonus_total));
    CHECK(marks.pending == 0);
  }
}

TEST_CASE("real rubrics: nothing found is 0 of everything") {
  for (const std::string& lab : kLabs) {
    INFO(lab);
    const Rubric rubric = load_lab_rubric(lab);
    const LabMarks marks = compute_marks(rubric, {}, {});
    CHECK(marks.marks == 0);
    CHECK(marks.pending == 0);
    CHECK(marks.items.size() ==
          rubric.tasks.size() + rubric.manuals.size() + rubric.ladders.size() + rubric.bonuses.size());
  }
}

TEST_CASE("real rubrics: one task that fails costs its own marks, and no other task's") {
  for (const std::string& lab : kLabs) {
    const Rubric rubric = load_lab_rubric(lab);
    if (!rubric.ladders.empty()) continue;  // there a task costs a rung
    const double full = compute_marks(rubric, all_right(rubric), {}).marks;
    for (const RubricTask& task : rubric.tasks) {
      INFO(task.id);
      LabOutcome outcome = all_right(rubric);
      outcome.tasks[task.id] = testing::judged(task.id, {Worth::kTooExpensive});
      CHECK(compute_marks(rubric, outcome, {}).marks == doctest::Approx(full - task.marks));
    }
  }
}

TEST_CASE("real rubrics: Option C wants consecutive stages, not balanced ones, and 1F1B without recomputation") {
  const Rubric rubric = load_lab_rubric("optC_model_parallel");
  const auto with_checks = [&](Worth consecutive, Worth balanced) {
    LabOutcome outcome = all_right(rubric);
    TaskOutcome& split = outcome.tasks["optC.split_layers"];
    split.checks = {{"SplitLayersConsecutive", consecutive, "", ""}, {"SplitLayers", balanced, "", ""}};
    outcome.tasks["optC.recompute"] = testing::judged("optC.recompute", {Worth::kFailed});
    return compute_marks(rubric, outcome, full_marks_by_hand(rubric, outcome));
  };
  const LabMarks by_number = with_checks(Worth::kPassed, Worth::kFailed);
  CHECK(testing::item_named(by_number, "optC.pipeline").marks == 5);
  CHECK(testing::item_named(by_number, "optC.many_micro_batches").marks == 1);
  CHECK(by_number.marks == doctest::Approx(rubric.total + rubric.bonus_total));
  const LabMarks invalid = with_checks(Worth::kFailed, Worth::kFailed);
  CHECK(testing::item_named(invalid, "optC.pipeline").marks == 0);
}

TEST_CASE("real rubrics: the answer key names every item") {
  for (const std::string& lab : kLabs) {
    const Rubric rubric = load_lab_rubric(lab);
    const std::string key = answer_key(rubric, get_folder(lab));
    for (const RubricTask& task : rubric.tasks) CHECK_MESSAGE(key.find(task.id + ":") != std::string::npos, task.id);
    for (const RubricManual& manual : rubric.manuals)
      CHECK_MESSAGE(key.find(manual.look_for) != std::string::npos, manual.id);
  }
}

TEST_CASE("real rubrics: every question that is answered in words has an item that a person marks") {
  const std::string form = lab::testing::read_bytes(get_folder("a5_pipeline") + "/a5_answers.template.md");
  const std::size_t begin = form.find("your words for "), end = form.find(", your code", begin);
  REQUIRE(end != std::string::npos);
  int num_questions = 0;
  const std::vector<RubricManual> manuals = load_lab_rubric("a5_pipeline").manuals;
  for (std::size_t at = form.find('Q', begin); at < end; at = form.find('Q', at + 1)) {
    const std::string question = form.substr(at, form.find_first_of(", ", at) - at) + ":";
    INFO(question);
    ++num_questions;
    CHECK(std::any_of(manuals.begin(), manuals.end(),
                      [&](const RubricManual& manual) { return manual.title.find(question) == 0; }));
  }
  CHECK(num_questions == 4);
}

/// A row of a table that has a column of marks.
struct MarksRow {
  std::vector<std::string> ids;  ///< what it names: "a4.data_parallel"
  std::vector<double> marks;
  bool bonus = false;
};

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

std::vector<MarksRow> rows_with_marks(const std::string& readme) {
  std::vector<MarksRow> rows;
  std::istringstream lines(readme);
  std::string line, heading;
  std::size_t column = 0;  // 0: not in such a table
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = all_matches(line, "\\| *([^|]*[^| ]|) *(?=\\|)");
    if (cells.empty()) column = 0;
    if (column > 0 && cells.at(column - 1) != "---") {
      MarksRow row;
      row.ids = all_matches(line, "`([a-zA-Z0-9]+\\.(?!cpp|md)[a-z_0-9]+)`");
      for (const std::string& number : all_matches(cells[column - 1], "([0-9.]+)"))
        row.marks.push_back(std::stod(number));
      row.bonus = heading == "bonus" || cells[column - 1].find_first_of("b+") == 0;
      rows.push_back(row);
    }
    for (std::size_t i = 0; i < cells.size() && column == 0; ++i) {
      if (cells[i] == "marks" || cells[i] == "bonus") heading = cells[i], column = i + 1;
    }
  }
  return rows;
}

TEST_CASE("real rubrics: the tables of the labs' READMEs have the rubric's marks") {
  for (const std::string& lab : kLabs) {
    INFO(lab);
    const Rubric rubric = load_lab_rubric(lab);
    const std::vector<MarksRow> rows = rows_with_marks(lab::testing::read_bytes(get_folder(lab) + "/README.md"));
    std::vector<std::string> in_rubric, in_readme, differing;
    // A ladder's rows name no id.
    const auto add = [](std::vector<std::string>& to, bool bonus, const std::string& id, double marks) {
      to.push_back((bonus ? "bonus " : "") + id + " " + std::to_string(marks));
    };
    double marks_by_hand = 0, other_marks = 0;
    for (const RubricTask& task : rubric.tasks) {
      if (task.marks > 0) add(in_rubric, task.bonus, task.id, task.marks);
    }
    for (const RubricLadder& ladder : rubric.ladders) {
      for (const RubricRung& rung : ladder.rungs) add(in_rubric, false, "", rung.marks);
    }
    for (const RubricBonus& bonus : rubric.bonuses) add(in_rubric, true, "", bonus.marks);
    for (const RubricManual& manual : rubric.manuals) marks_by_hand += manual.marks;
    for (const MarksRow& row : rows) {
      for (std::size_t i = 0; i < row.marks.size(); ++i) {
        const std::string id = i < row.ids.size() && rubric.ladders.empty() ? row.ids[i] : "";
        const bool by_hand = rubric.ladders.empty() && rubric.find_task(id) == nullptr;
        if (by_hand) other_marks += row.marks[i];
        if (!by_hand) add(in_readme, row.bonus, id, row.marks[i]);
      }
    }
    std::sort(in_rubric.begin(), in_rubric.end());
    std::sort(in_readme.begin(), in_readme.end());
    std::set_symmetric_difference(in_rubric.begin(), in_rubric.end(), in_readme.begin(), in_readme.end(),
                                  std::back_inserter(differing));
    for (const std::string& line : differing) FAIL_CHECK("in one of rubric and README only: " << line);
    CHECK((other_marks == marks_by_hand || other_marks == 0));  // what is marked by hand may be in the text
  }
}

}  // namespace
}  // namespace lab::grading
