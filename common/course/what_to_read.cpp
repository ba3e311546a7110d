#include "common/course/what_to_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "common/course/lines.h"
#include "common/course/student_files.h"
#include "common/report/read_file.h"

namespace lab {
namespace {

/// Letters and digits alone, in lower case: "All-reduce" and "allreduce" are the same.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Sections that name every task and explain none.
bool is_an_overview(const std::string& heading) {
  constexpr const char* kOverviews[] = {"files", "mistakes", "measured",     "papers",           "handin",
                                        "runit", "pictures", "whyatrueline", "whatyoushouldsee", "tasks"};
  const std::string letters = letters_of(heading);
  return std::any_of(std::begin(kOverviews), std::end(kOverviews),
                     [&](const char* overview) { return letters.compare(0, std::strlen(overview), overview) == 0; });
}

/// Level and words of a heading; level 0: the line is none.
std::pair<std::size_t, std::string> heading_in(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  if (level == std::string_view::npos || level == 0 || line[level] != ' ') return {0, ""};
  return {level, std::string(line.substr(level + 1))};
}

/// The sections that explain something.
std::vector<ReadmeSection> sections_of(const std::string& readme) {
  std::vector<ReadmeSection> sections;
  bool in_block = false, wanted = false;
  std::size_t number = 0;
  for (const std::string& line : lines_of(readme)) {
    ++number;
    if (line.compare(0, 3, "```") == 0) in_block = !in_block;
    const auto [level, heading] = heading_in(without_line_break(line));
    if (!in_block && level > 1) {
      wanted = !is_an_overview(heading);
      if (wanted) sections.push_back({number, heading, ""});
    } else if (wanted) {
      sections.back().letters += letters_of(line);
    }
  }
  return sections;
}

/// The line of a numbered question: "- **Q2.** ..." for a task whose title begins with "Q2:".
std::optional<ReadmeSection> question_in(const std::string& readme, const std::string& title) {
  const std::size_t colon = title.find(':');
  if (colon == std::string::npos || title[0] != 'Q') return std::nullopt;
  const std::string question = title.substr(0, colon);
  std::size_t number = 0;
  for (const std::string& line : lines_of(readme)) {
    ++number;
    if (line.find("**" + question + ".**") != std::string::npos) return ReadmeSection{number, question, ""};
  }
  return std::nullopt;
}

/// The text of the first file of the task.
std::string first_file(const CourseTree& tree, const TaskOfLab& task) {
  const std::vector<std::string> files = files_below(tree, *task.lab, task.task->file);
  return files.empty() ? "" : read_file(tree.folder_of(*task.lab) + "/" + files.front());
}

}  // namespace

std::optional<ReadmeSection> section_about(const std::string& readme, const RubricTask& task) {
  if (auto question = question_in(readme, task.title)) return question;
  const std::vector<ReadmeSection> sections = sections_of(readme);
  // "conv2d_halo", and where nobody speaks of that, "conv2d".
  for (std::string name = task.id.substr(task.id.find('.') + 1); !name.empty();
       name.resize(name.find('_') == std::string::npos ? 0 : name.rfind('_'))) {
    const ReadmeSection* best = nullptr;
    std::size_t best_score = 0;
    for (const ReadmeSection& section : sections) {
      constexpr std::size_t kHeadingCounts = 4, kMostInText = 6;
      const std::string letters = letters_of(name);
      const std::size_t score = kHeadingCounts * count_of(letters, letters_of(section.heading)) +
                                std::min(kMostInText, count_of(letters, section.letters));
      if (score > best_score) best = &section;
      best_score = std::max(best_score, score);
    }
    if (best != nullptr) return *best;
  }
  return std::nullopt;
}

ReadingPlace place_to_edit(const CourseTree& tree, const TaskOfLab& task) {
  std::vector<std::string> files = files_below(tree, *task.lab, task.task->file);
  for (const std::string& file : student_files(tree, *task.lab)) files.push_back(file);
  for (const std::string& file : files) {
    const std::size_t line = line_of_todo(read_file(tree.folder_of(*task.lab) + "/" + file), task.task->id);
    if (line != 0) return {task.lab->lab + "/" + file, line, "its TODO"};
  }
  return {task.lab->lab + "/" + task.task->file, 0, ""};
}

std::vector<std::string> contracts_of(const CourseTree& tree, const TaskOfLab& task) {
  const std::string begin = "#include \"" + task.lab->lab + "/";
  std::vector<std::string> headers;
  for (const std::string& line : lines_of(first_file(tree, task))) {
    if (line.compare(0, begin.size(), begin) != 0) continue;
    const std::string header = line.substr(begin.size(), line.find('"', begin.size()) - begin.size());
    headers.push_back(task.lab->lab + "/" + header);
  }
  return headers;
}

ReadingPlace readme_of(const CourseTree& tree, const TaskOfLab& task) {
  ReadingPlace place = {task.lab->lab + "/README.md", 0, "the assignment"};
  const std::string path = tree.root() + "/" + place.file;
  if (!std::filesystem::exists(path)) return place;
  if (const auto section = section_about(read_file(path), *task.task)) {
    place.line = section->line;
    place.what = "\"" + section->heading + "\"";
  }
  return place;
}

std::string to_text(const ReadingPlace& place) {
  return place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line);
}

}  // namespace lab
