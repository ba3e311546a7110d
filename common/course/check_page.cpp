#include "common/course/check_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/api/errors.h"
#include "common/base/costs_json.h"
#include "common/base/text.h"
#include "common/page/shown_costs.h"

namespace lab {
namespace {

constexpr std::size_t kMostMessages = 20;
constexpr std::size_t kMostLines = 40;       // of a message: a template's notes may go on for pages
constexpr std::size_t kMostLineBytes = 500;  // generated code may be one line

bool has(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool begins(std::string_view line, std::string_view start) {
  return line.substr(0, start.size()) == start;
}

/// What a line is to the messages around it.
enum class Line { kError, kWarning, kContext, kOfTool, kMore };

/// Source lines begin with a blank, so nothing in them is taken for something else.
Line find_kind(std::string_view line) {
  if (line.empty() || line.front() == ' ') return Line::kMore;
  for (const char* start : {"FAILED: ", "ninja: ", "[", ": && ", "collect2: ", "lab: ", "make"}) {
    if (begins(line, start)) return Line::kOfTool;
  }
  for (const char* part : {"compilation terminated", " generated.", "linker command failed"}) {
    if (has(line, part)) return Line::kOfTool;
  }
  if (begins(line, "In file included from ") || has(line, ": In ") || has(line, ": At global scope:"))
    return Line::kContext;
  if (has(line, "error: ") || has(line, ": undefined reference to ") || has(line, ": multiple definition of "))
    return Line::kError;
  if (has(line, ": warning: ")) return Line::kWarning;
  if (has(line, ": in function ")) return Line::kContext;  // the linker's
  // A compiler's command, which the build tool repeats.
  if (begins(line, "/") && has(line, " -") && !has(line, ": ")) return Line::kOfTool;
  return Line::kMore;  // a note, or what clang shows without a margin
}

/// The messages, line by line.
class Messages {
 public:
  void add(Line kind, const std::string& line) {
    switch (kind) {
      case Line::kOfTool:
      case Line::kWarning:
        context_.clear();
        is_in_message_ = false;
        is_left_out_ = true;
        return;
      case Line::kContext:
        is_in_message_ = is_left_out_ = false;
        if (context_.size() < kMostLines * kMostLineBytes) context_ += line + "\n";
        return;
      case Line::kError:
        texts_.push_back(line);
        if (!context_.empty()) texts_.back() += "\n" + context_.substr(0, context_.size() - 1);
        num_lines_ = 1;
        context_.clear();
        is_in_message_ = true;
        return;
      case Line::kMore:
        if (is_in_message_ && num_lines_++ < kMostLines) texts_.back() += "\n" + line;
        if (!is_in_message_ && !is_left_out_ && context_.size() < kMostLines * kMostLineBytes) context_ += line + "\n";
        return;
    }
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::string context_;  ///< of the next message
  std::size_t num_lines_ = 0;
  bool is_in_message_ = false, is_left_out_ = true;
};

}  // namespace

std::vector<std::string> compiler_messages(const std::string& output, const std::string& root) {
  Messages messages;
  for (const std::string& whole_line : list_lines(without_escapes(output))) {
    std::string line = std::string(without_line_break(whole_line)).substr(0, kMostLineBytes);
    const Line kind = find_kind(line);
    const bool is_source = line.empty() || line.front() == ' ';
    if (!is_source) {
      for (const std::string& folder : {root + "/", std::string("../../")}) replace_all(line, folder, "");
    }
    messages.add(kind, line);
  }
  std::vector<std::string> texts = messages.take();
  if (texts.size() > kMostMessages) {
    const std::string more = counted(texts.size() - kMostMessages, "more error");
    texts.resize(kMostMessages);
    texts.push_back("and " + more);
  }
  return texts;
}

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
  shown.costs =
      page::shown_costs(check.at("most_of_a_rank").get<CaseFigures>(), check.at("at_most").get<CaseFigures>());
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
