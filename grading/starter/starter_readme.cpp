#include "grading/starter/starter_readme.h"

#include <fmt/format.h>

#include "common/course/lines.h"
#include "common/course/rubric.h"
#include "common/course/rubric_check.h"
#include "common/report/errors.h"
#include "common/report/read_file.h"

namespace lab::grading {
namespace {

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

std::string row_of_lab(const std::vector<std::string>& readme, const std::string& lab) {
  const std::string beginning = fmt::format("| [{0}]({0}/README.md) |", lab);
  for (const std::string& line : readme) {
    if (begins_with(line, beginning)) return line;
  }
  throw UsageError(fmt::format("README.md: expected a row of the table of labs that begins '{}'", beginning));
}

std::string section_of(const std::vector<std::string>& readme, const std::string& title) {
  std::string section;
  for (const std::string& line : readme) {
    if (!section.empty() && begins_with(line, "## ")) return section;
    if (!section.empty() || line == "## " + title + "\n") section += line;
  }
  if (section.empty()) throw UsageError(fmt::format("README.md: expected a section '## {}'", title));
  return section + "\n";
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
}

}  // namespace

std::string starter_readme(const std::string& source, const std::vector<std::string>& labs) {
  const std::vector<std::string> readme = lines_of(read_file(source + "/README.md"));
  const std::string section_word = "{{section ";
  std::string text;
  for (const std::string& line : lines_of(read_file(source + "/grading/starter/README.starter.md"))) {
    if (line == "{{labs}}\n") {
      for (const std::string& lab : labs) text += row_of_lab(readme, lab);
    } else if (begins_with(line, section_word)) {
      text += section_of(readme, line.substr(section_word.size(), line.find("}}") - section_word.size()));
    } else {
      text += line;
    }
  }
  const Rubric first_lab = load_rubric(source + "/" + labs.front() + "/rubric.toml");
  replace_all(text, "{{task}}", first_lab.tasks.front().id);
  replace_all(text, "{{lab}}", short_name_of(first_lab.lab));
  while (text.size() > 1 && text.compare(text.size() - 2, 2, "\n\n") == 0) text.pop_back();
  return text;
}

}  // namespace lab::grading
