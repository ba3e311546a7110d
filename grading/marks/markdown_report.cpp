#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "grading/marks/markdown_text.h"
#include "grading/marks/report_limits.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

std::string title_of(const MarkedItem& item) {
  return fmt::format("{} (`{}`)", markdown_text(item.title), item.id);
}

/// Whether nothing of it was judged: it has no marks, not even 0.
bool has_no_marks(const MarkedItem& item) {
  return item.state == MarkedItem::State::kNotJudged && item.marks == 0;
}

std::string marks_table(const LabMarks& marks) {
  std::string table = "| what | marks | of | |\n|---|---:|---:|---|\n";
  for (const MarkedItem& item : marks.items) {
    // It may have no marks of its own, if a ladder counts it.
    const bool counts = item.out_of > 0;
    std::string state = name_of(item.state);
    if (item.pending > 0) state += fmt::format(": {} wait for a person", shown_marks(item.pending));
    if (item.not_judged > 0) state += fmt::format(": {} wait for another grading", shown_marks(item.not_judged));
    table += fmt::format("| {} | {} | {} | {}{} |\n", title_of(item),
                         counts && !has_no_marks(item) ? shown_marks(item.marks) : "",
                         counts ? shown_marks(item.out_of) : "", item.bonus ? "bonus, " : "", state);
  }
  return table;
}

/// A list item; if the text has several lines, as a compiler's errors do, the others follow in a block.
std::string list_item(const std::string& words, std::size_t max_bytes) {
  const std::string safe = safe_text(words, max_bytes);
  const std::size_t line_end = safe.find('\n');
  if (line_end == std::string::npos) return "- " + markdown_text(safe) + "\n";
  return "- " + markdown_text(safe.substr(0, line_end)) + "\n\n" + markdown_block(safe.substr(line_end + 1));
}

std::string list_of(const std::vector<std::string>& lines, std::size_t max_bytes) {
  std::string list;
  for (std::size_t i = 0; i < std::min(lines.size(), ReportLimits::kMaxLines); ++i)
    list += list_item(lines[i], max_bytes);
  if (lines.size() > ReportLimits::kMaxLines)
    list += fmt::format("- and {} more\n", lines.size() - ReportLimits::kMaxLines);
  return list;
}

std::string items_with_words(const LabMarks& marks) {
  std::string text;
  for (const MarkedItem& item : marks.items) {
    if (item.words.empty()) continue;
    text +=
        fmt::format("\n### {}: {}\n\n", title_of(item),
                    item.out_of > 0 && !has_no_marks(item) ? shown_marks(item.marks) + " of " + shown_marks(item.out_of)
                                                           : name_of(item.state));
    text += list_of(item.words, ReportLimits::kWordsBytes);
  }
  return text.empty() ? "" : "\n## What was found\n" + text;
}

std::string how_it_was_judged(const LabOutcome& outcome) {
  const auto safe = [](const std::string& words) { return safe_text(one_line(words), ReportLimits::kWordsBytes); };
  std::string text = "\n## How this was judged\n\n";
  if (!outcome.isolation.empty()) text += fmt::format("- isolation: {}\n", markdown_text(safe(outcome.isolation)));
  if (!outcome.seed.empty()) text += fmt::format("- the same inputs again: grade with `{}`\n", safe(outcome.seed));
  return text + fmt::format("- seconds: {:.1f}\n", outcome.seconds);
}

}  // namespace

std::string to_markdown(const LabMarks& marks, const LabOutcome& outcome) {
  std::string report = fmt::format("# {}\n\n{}\n\n", headline(marks), markdown_text(marks.title));
  if (marks.not_judged > 0) report += fmt::format("**{}**\n\n", kNotJudgedNote);
  report += marks_table(marks);
  report += items_with_words(marks);
  if (!outcome.evidence.empty())
    report += "\n## Logs\n\n" + list_of(evidence_lines(outcome), ReportLimits::kWordsBytes);
  if (!outcome.notes.empty()) report += "\n## Notes\n\n" + list_of(outcome.notes, ReportLimits::kNoteBytes);
  return report + how_it_was_judged(outcome);
}

}  // namespace lab::grading
