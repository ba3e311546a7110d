#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/files.h"
#include "common/course/check_page.h"
#include "common/plot/timeline_json.h"
#include "grading/batch/class_overview.h"
#include "grading/marks/tests/sample_marks.h"
#include "grading/marks/writers.h"

// Writes DIR/index.html, the overview of a made-up class of 200, and DIR/report.html, a student's page with all that can
// be on one: what tests of pages in a browser open.
namespace lab::grading {
namespace {

Rubric a_rubric(const std::string& lab, int num_tasks) {
  Rubric rubric;
  rubric.lab = lab;
  rubric.title = "Sample";
  for (int task = 0; task < num_tasks; ++task)
    rubric.tasks.push_back(testing::a_task(fmt::format("{}.task{}", lab.substr(0, 2), task), 10));
  rubric.total = 10 * num_tasks;
  return rubric;
}

/// A ring of four ranks: each computes, sends to the next and goes on; or waits for it in vain.
std::string a_timeline(bool stuck) {
  plot::Timeline timeline;
  timeline.title = "4 ranks";
  timeline.num_ranks = 4;
  plot::Clock& clock = timeline.clocks.emplace_back();
  clock.title = "model time";
  for (int rank = 0; rank < 4; ++rank) {
    const double begin = 1e-6 * (rank + 1);
    clock.boxes.push_back({rank, 0, begin, "computes", fmt::format("rank {}: computes", rank)});
    if (!stuck) clock.boxes.push_back({rank, begin + 26e-6, 40e-6, "computes"});
    clock.arrows.push_back({rank, (rank + 1) % 4, begin, begin + 24e-6, "",
                            fmt::format("message from rank {} to rank {}: 1024 B", rank, (rank + 1) % 4), plot::kBlack,
                            stuck});
  }
  if (!stuck) clock.path = {{3, 3, 0, 4e-6}, {3, 0, 4e-6, 28e-6}, {0, 0, 28e-6, 40e-6}};
  return plot::to_json(timeline).dump();
}

/// Student `number` fails the more checks, the higher the task's number.
LabOutcome an_outcome(const Rubric& rubric, int number) {
  LabOutcome outcome;
  outcome.lab = rubric.lab;
  outcome.seconds = number == 17 ? 400 : 20 + number % 7;
  outcome.seed = "--seed 42";
  outcome.isolation = "bubblewrap";
  outcome.notes = {"handed in by <b>somebody</b>",
                   "student/x.cpp does not compile:\n  3 | int x = y;\n    |         ^"};
  for (std::size_t task = 0; task < rubric.tasks.size(); ++task) {
    const bool fails = static_cast<std::size_t>(number * 7 % 20) < 3 * task;
    TaskOutcome found = testing::judged(rubric.tasks[task].id, {Worth::kPassed, Worth::kPassed});
    if (fails) {
      CaseVerdict& check = found.checks[1];
      check.worth = number % 2 == 0 ? Worth::kFailed : Worth::kTooExpensive;
      check.reason = "on 4 ranks: rank 2, result 'out', element [3, 0]: expected 10, got 2.5";
      check.symptom.message = number % 3 == 0 ? "the sum is divided by the number of ranks" : "everything is gathered";
      check.used = {21'800'000'000, 1'234'567, 80'000, 5'000};
      check.limits = {8'890'000'000, 1'234'567};
      if (task < 5) check.timeline = a_timeline(task == 4);
    }
    outcome.tasks[found.id] = found;
  }
  return outcome;
}

void write_pages(const std::string& folder) {
  const std::vector<Rubric> rubrics = {a_rubric("a4_data_tensor", 3), a_rubric("a9_collectives", 6)};
  ClassOverview overview;
  std::vector<MarkedStudent> students;
  std::vector<std::string> labs;
  for (const Rubric& rubric : rubrics) labs.push_back(rubric.lab);
  for (int number = 0; number < 200; ++number) {
    MarkedStudent& student = students.emplace_back();
    student.who = fmt::format("s{:03}", number);
    student.identity.id = student.who;
    student.identity.name = fmt::format("Student {}", number);
    student.is_late = number % 25 == 0;
    if (number % 40 == 3) student.remarks = {"signed with another student's id"};
    for (const Rubric& rubric : rubrics) {
      if (number % 10 == 9 && rubric.lab == labs.front()) continue;
      const LabOutcome outcome = an_outcome(rubric, number);
      student.labs[rubric.lab] = compute_marks(rubric, outcome, {});
      overview.add(student.who, student.labs[rubric.lab], outcome);
    }
  }
  write_file_atomically(folder + "/index.html", overview.html(nullptr, students, labs, ""));
  const LabOutcome outcome = an_outcome(rubrics.back(), 4);
  write_file_atomically(folder + "/report.html", to_html(compute_marks(rubrics.back(), outcome, {}), outcome));
}

}  // namespace
}  // namespace lab::grading

int main(int argc, char** argv) {
  if (argc == 2) {
    lab::grading::write_pages(argv[1]);
  } else if (argc == 4) {
    const lab::CombinedResults results(argv[1]);
    lab::write_file_atomically(argv[3], lab::page::to_html(lab::check_page(results, lab::CourseTree::load(argv[2]))));
  } else {
    fmt::print(stderr, "usage: grading_sample_pages DIR, or the results of checks, the tree and the page to write\n");
    return 2;
  }
  return 0;
}
