#include "common/course/check_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/course/compiler_messages.h"
#include "common/page/shown_costs.h"

namespace lab {
namespace {

using nlohmann::json;
using page::Standing;

page::ShownCheck shown_check(const json& check) {
  page::ShownCheck shown;
  shown.name = check.at("name");
  shown.message = check.at("message");
  shown.likely = check.at("likely");
  shown.label = check.at("label");
  shown.lines = check.at("rank_lines").get<std::vector<std::string>>();
  shown.costs = page::shown_costs(page::figures_from_json(check.at("most_of_a_rank")),
                                  page::figures_from_json(check.at("at_most")));
  if (check.contains("timeline")) shown.timeline = check.at("timeline").dump();
  return shown;
}

page::ShownItem shown_task(const json& task, const CourseTree& tree) {
  page::ShownItem item;
  item.id = task.at("task");
  item.title = item.id;
  for (const Rubric& lab : tree.labs()) {
    if (const RubricTask* known = lab.find_task(item.id)) item.title = known->title;
  }
  item.short_text = task.at("message");
  if (task.at("passed")) {
    item.standing = Standing::kRight;
    item.label = "right";
    const auto sizes = task.value("right_on", std::vector<int>());
    if (sizes.size() > 1) item.short_text = fmt::format("right on {} ranks", fmt::join(sizes, " "));
  } else if (task.at("todo") || task.at("skipped")) {
    item.standing = Standing::kOpen;
    item.label = task.at("todo") ? "not implemented" : "skipped";
  } else {
    item.label = "wrong";
  }
  if (item.standing != Standing::kRight) item.hint = "./lab hint " + item.id;
  if (task.at("todo")) return item;
  const std::string heading = task.value("heading", std::string());
  if (!heading.empty()) item.findings.push_back(one_line(heading));
  for (const json& check : task.at("checks")) {
    if (check.at("passed")) item.right_checks.push_back(check.at("name"));
    if (!check.at("passed") && !check.at("skipped")) item.checks.push_back(shown_check(check));
  }
  return item;
}

/// A lab that was not built, and why.
page::ShownItem shown_build(const CombinedResults::Problem& problem, const CourseTree& tree) {
  page::ShownItem item;
  item.id = problem.lab;
  const Rubric* const lab = tree.find_lab(problem.lab);
  item.title = lab != nullptr ? lab->title : problem.lab;
  item.label = "not built";
  item.findings = compiler_messages(problem.build, std::filesystem::absolute(tree.root()).lexically_normal().string());
  if (item.findings.empty()) item.findings.push_back(problem.what);
  return item;
}

}  // namespace

page::ResultPage check_page(const CombinedResults& results, const CourseTree& tree) {
  page::ResultPage page;
  page.title = "What lab check found";
  std::size_t num_right = 0, num_tasks = 0;
  try {
    for (const json& task : json::parse(results.json())) {
      page.items.push_back(shown_task(task, tree));
      ++num_tasks;
      if (page.items.back().standing == Standing::kRight) ++num_right;
    }
  } catch (const json::exception& failure) {
    throw UsageError(fmt::format("expected the JSON of a lab's check: {}", failure.what()));
  }
  std::size_t num_not_built = 0;
  for (const CombinedResults::Problem& problem : results.problems()) {
    if (problem.build.empty()) {
      page.notes.push_back(problem.lab + ": " + problem.what);
    } else {
      page.items.insert(page.items.begin() + static_cast<std::ptrdiff_t>(num_not_built++), shown_build(problem, tree));
    }
  }
  std::vector<std::string> headline;
  if (num_tasks > 0 || num_not_built == 0)
    headline.push_back(fmt::format("{} of {} right", num_right, counted(num_tasks, "task")));
  if (num_not_built > 0) headline.push_back(counted(num_not_built, "lab") + " not built");
  page.headline = fmt::format("{}", fmt::join(headline, ", "));
  if (num_tasks > 0) page.share = static_cast<double>(num_right) / static_cast<double>(num_tasks);
  return page;
}

}  // namespace lab
