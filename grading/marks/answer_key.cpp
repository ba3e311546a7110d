#include "grading/marks/answer_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/text.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

std::vector<std::string> broadcast_values(int src, int factor) {
  std::vector<std::string> cells;
  for (int rank = 0; rank < 4; ++rank) {
    for (const char* name : {"x", "y"})
      cells.push_back(fmt::format("rank {}, printed {}: {}", rank, name, factor * (src + 1)));
  }
  return cells;
}

std::vector<std::string> sums_so_far(int first) {
  std::vector<std::string> cells;
  int sum = first;
  for (int rank = 1; rank < 4; ++rank) {
    sum += rank + first;
    cells.push_back(fmt::format("after root 0 received from rank {}: {}", rank, sum));
  }
  for (int rank = 0; rank < 4; ++rank) cells.push_back(fmt::format("rank {}, final value: {}", rank, sum));
  return cells;
}

std::vector<std::string> gathered_layout(int offset) {
  std::vector<int> content;
  for (int rank = 0; rank < 3; ++rank) {
    content.push_back(rank);
    content.push_back(rank + offset);
  }
  std::vector<std::string> cells;
  for (int rank = 0; rank < 3; ++rank) {
    cells.push_back(fmt::format("rank {}, shape of y: 6", rank));
    cells.push_back(fmt::format("rank {}, content of y: {}", rank, fmt::join(content, " ")));
  }
  return cells;
}

/// A5's last row, that of the defaults.
std::vector<std::string> pipeline_messages(const QuestionNumbers& numbers) {
  const std::int64_t batch = numbers.at("micro_batch"), sequence = numbers.at("sequence"),
                     hidden = numbers.at("hidden");
  const std::int64_t bytes = batch * sequence * hidden * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t num_messages =
      std::int64_t{2} * numbers.at("micro_batches") * (numbers.at("stages") - 1);  // there and back
  return {fmt::format("shape: {} {} {}", batch, sequence, hidden), fmt::format("bytes of a message: {}", bytes),
          fmt::format("messages of a batch: {}", num_messages),
          fmt::format("bytes of a batch: {}", bytes * num_messages)};
}

}  // namespace

std::vector<std::string> expected_cells(const std::string& manual_id, const QuestionNumbers& numbers) {
  const auto has = [&](const char* name) { return numbers.count(name) != 0; };
  if (manual_id == "a5.written_q3" && has("micro_batch") && has("sequence") && has("hidden") && has("stages") &&
      has("micro_batches"))
    return pipeline_messages(numbers);
  if (manual_id == "a9.written_q1" && has("src") && has("factor"))
    return broadcast_values(numbers.at("src"), numbers.at("factor"));
  if (manual_id == "a9.written_q2" && has("first")) return sums_so_far(numbers.at("first"));
  if (manual_id == "a9.written_q3" && has("offset")) return gathered_layout(numbers.at("offset"));
  return {};
}

namespace {

std::vector<std::string> answer_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  std::filesystem::directory_iterator entries(folder, problem);
  if (problem) throw UsageError(fmt::format("{}: cannot be read: {}", folder, problem.message()));
  for (const auto& entry : entries) {
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string section(std::string_view title, const std::string& lines) {
  return lines.empty() ? "" : fmt::format("\n{}\n\n{}", title, lines);
}

std::string asked_for(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) {
  std::string text = fmt::format("{}", fmt::join(needs, ", "));
  if (!any_of.empty()) text += fmt::format("{}one of {}", text.empty() ? "" : ", ", fmt::join(any_of, ", "));
  return text;
}

std::string list_ladders(const Rubric& rubric) {
  std::string lines;
  for (const RubricLadder& ladder : rubric.ladders) {
    lines += fmt::format("  {}: {}, {} marks\n", ladder.id, ladder.title, shown_marks(ladder.total));
    for (const RubricRung& rung : ladder.rungs) {
      lines += fmt::format("    {}: {}; needs {}\n", shown_marks(rung.marks), rung.title,
                           asked_for(rung.needs, rung.any_of));
    }
  }
  for (const RubricBonus& bonus : rubric.bonuses) {
    lines += fmt::format("  {}: {}, {} marks on top; needs {}\n", bonus.id, bonus.title, shown_marks(bonus.marks),
                         asked_for(bonus.needs, bonus.any_of));
  }
  return lines;
}

std::string list_tasks(const Rubric& rubric) {
  std::string lines;
  for (const RubricTask& task : rubric.tasks) {
    lines += fmt::format("  {}: {}", task.id, task.title);
    if (task.marks > 0) lines += fmt::format(", {} marks{}", shown_marks(task.marks), task.bonus ? " on top" : "");
    lines += fmt::format("; {}\n", task.file);
  }
  return lines;
}

std::string list_manuals(const Rubric& rubric) {
  std::string lines;
  for (const RubricManual& manual : rubric.manuals) {
    lines += fmt::format("  {}: {}", manual.id, manual.title);
    if (manual.marks > 0)
      lines += fmt::format(", {} marks{}", shown_marks(manual.marks), manual.bonus ? " on top" : "");
    lines += fmt::format("; {}{}{}\n    look for: {}\n", manual.file, manual.also.empty() ? "" : ", ",
                         fmt::join(manual.also, ", "), manual.look_for);
  }
  return lines;
}

std::string read_answers(const Rubric& rubric, const std::string& student) {
  std::string lines = list_questions(rubric, student);
  for (const RubricManual& manual : rubric.manuals) {
    const auto cells = expected_cells(manual.id, read_numbers(rubric, manual, student));
    if (!cells.empty()) lines += fmt::format("\n  {}\n    {}\n", manual.id, fmt::join(cells, "\n    "));
  }
  return lines;
}

}  // namespace

std::string answer_key(const Rubric& rubric, const std::string& lab_folder, const std::string& student) {
  std::string key = fmt::format("{}: {}; {} marks, {} on top\n{}\n", rubric.lab, rubric.title,
                                shown_marks(rubric.total), shown_marks(rubric.bonus_total), rubric.marks_source);
  key += section("Ladders and bonuses", list_ladders(rubric));
  key += section("Tasks; the reference solution is between markers in each task's file", list_tasks(rubric));
  key += section("Marked by a person", list_manuals(rubric));
  if (!student.empty())
    key += section("Written questions; the answers below are to those of the handout", read_answers(rubric, student));
  const std::string folder = lab_folder + "/answers";
  for (const std::string& name : answer_files(folder)) {
    const std::string bytes = read_file(folder + "/" + name);
    const bool is_text = is_utf8(bytes) && bytes.find('\0') == std::string::npos;
    key += fmt::format("\n===== answers/{} =====\n\n{}", name,
                       is_text ? bytes : fmt::format("(not text: {})\n", describe_bytes(bytes.size())));
    if (key.back() != '\n') key += '\n';
  }
  return key;
}

}  // namespace lab::grading
