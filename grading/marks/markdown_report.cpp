#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/text.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/shown_to_student.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

std::string make_title(const MarkedItem& item) {
  return fmt::format("{} (`{}`)", markdown_text(item.title), item.id);
}

std::string marks_table(const LabMarks& marks) {
  std::string table = "| what | marks | of | |\n|---|---:|---:|---|\n";
  for (const MarkedItem& item : marks.items) {
    // It may have no marks of its own, if a ladder counts it.
    const bool counts = item.out_of > 0;
    std::string state = get_name(item.worth);
    for (const std::string& waits : waiting_for(item)) state += ": " + waits;
    table += fmt::format("| {} | {} | {} | {}{} |\n", make_title(item),
                         counts && !has_no_marks(item) ? shown_marks(item.marks) : "",
                         counts ? shown_marks(item.out_of) : "", item.bonus ? "bonus, " : "", state);
  }
  return table;
}

/// A list item; if the text has several lines, as a compiler's errors do, the others follow in a block.
std::string list_item(const std::string& text, std::size_t max_bytes) {
  const std::string safe = safe_text(text, max_bytes);
  const std::size_t line_end = safe.find('\n');
  if (line_end == std::string::npos) return "- " + markdown_text(safe) + "\n";
  return "- " + markdown_text(safe.substr(0, line_end)) + "\n\n" + markdown_block(safe.substr(line_end + 1));
}

std::string join_list(const std::vector<std::string>& lines, std::size_t max_bytes) {
  std::string list;
  for (std::size_t i = 0; i < std::min(lines.size(), ReportLimits::kMaxLines); ++i)
    list += list_item(lines[i], max_bytes);
  if (lines.size() > ReportLimits::kMaxLines)
    list += fmt::format("- and {} more\n", lines.size() - ReportLimits::kMaxLines);
  return list;
}

std::string items_with_findings(const LabMarks& marks) {
  std::string text;
  for (const MarkedItem& item : marks.items) {
    if (item.findings.empty()) continue;
    text +=
        fmt::format("\n### {}: {}\n\n", make_title(item),
                    item.out_of > 0 && !has_no_marks(item) ? shown_marks(item.marks) + " of " + shown_marks(item.out_of)
                                                           : get_name(item.worth));
    text += join_list(item.findings, ReportLimits::kFindingBytes);
  }
  return text.empty() ? "" : "\n## What was found\n" + text;
}

std::string how_it_was_judged(const LabOutcome& outcome) {
  const auto safe = [](const std::string& text) { return safe_text(one_line(text), ReportLimits::kFindingBytes); };
  std::string text = "\n## How this was judged\n\n";
  if (!outcome.isolation.empty()) text += fmt::format("- isolation: {}\n", markdown_text(safe(outcome.isolation)));
  if (!outcome.seed.empty()) text += fmt::format("- the same inputs again: grade with `{}`\n", safe(outcome.seed));
  return text + fmt::format("- seconds: {:.1f}\n", outcome.seconds);
}

bool is_alphanumeric_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

/// Whether the character has a meaning in Markdown at this place.
bool has_meaning(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '\\':
    case '`':
    case '*':
    case '<':
    case '|':
    case '~': return true;
    case '_': return at == 0 || !is_alphanumeric_at(text, at - 1) || !is_alphanumeric_at(text, at + 1);
    case '&': return is_alphanumeric_at(text, at + 1) || text.substr(at + 1, 1) == "#";
    case ']': return text.substr(at + 1, 1) == "(" || text.substr(at + 1, 1) == "[";
    case '[':
    case '#':
    case '>':
    case '-':
    case '+':
    case '=': return at == 0;
    case '.':
    case ')':  // "1." begins a list
      return at > 0 && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at),
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
    default: return false;
  }
}

}  // namespace

std::string to_markdown(const LabMarks& all, const LabOutcome& outcome) {
  const ShownToStudent shown(all, outcome);
  const LabMarks& marks = shown.marks();
  std::string report = fmt::format("# {}\n\n{}\n\n", headline(marks), markdown_text(marks.title));
  if (shown.num_hidden() > 0) report += fmt::format("**{}**\n\n", kNotShownNote);
  if (marks.not_judged > 0) report += fmt::format("**{}**\n\n", kNotJudgedNote);
  report += marks_table(marks);
  report += items_with_findings(marks);
  if (!outcome.evidence.empty())
    report += "\n## Logs\n\n" + join_list(shown.lines(evidence_lines(outcome)), ReportLimits::kFindingBytes);
  if (const std::vector<std::string> notes = all_notes(outcome); !notes.empty())
    report += "\n## Notes\n\n" + join_list(shown.lines(notes), ReportLimits::kNoteBytes);
  return report + how_it_was_judged(outcome);
}

std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (has_meaning(line, at)) escaped += '\\';
    escaped += line[at];
  }
  return escaped;
}

std::string markdown_block(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  const std::string line_end = text.empty() || text.back() == '\n' ? "" : "\n";
  return fence + "text\n" + std::string(text) + line_end + fence + "\n";
}

}  // namespace lab::grading
