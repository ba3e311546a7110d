#include "grading/solutions/generated/source_mutants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::grading::generated {
namespace {

/// Where a task's solution is: bytes after the line with its BEGIN marker to before the line with its END marker.
struct Marked {
  std::string task;
  std::size_t begin = 0, end = 0;
};

std::vector<Marked> marked_parts(const std::string& text) {
  constexpr std::string_view kBegin = "// BEGIN SOLUTION ", kEnd = "// END SOLUTION ";
  std::vector<Marked> parts;
  std::size_t at = 0;
  for (const std::string& line : list_lines(text)) {
    const std::size_t begin = line.find(kBegin), end = line.find(kEnd);
    if (begin != std::string::npos)
      parts.push_back({one_line(line.substr(begin + kBegin.size())), at + line.size(), text.size()});
    if (end != std::string::npos && !parts.empty()) parts.back().end = at;
    at += line.size();
  }
  return parts;
}

/// The task between whose markers the bytes are; empty: none's.
std::string task_at(const std::string& text, std::size_t begin, std::size_t end) {
  for (const Marked& part : marked_parts(text)) {
    if (part.begin <= begin && end <= part.end) return part.task;
  }
  return "";
}

bool is_keyword_of_control(std::string_view name) {
  return name == "if" || name == "for" || name == "while" || name == "switch" || name == "catch";
}

/// Whether a { begins the body of a function or lambda.
bool opens_body(const TokenizedText& text, std::size_t token) {
  if (!text.is(token, "{") || token == 0) return false;
  std::size_t close = token - 1;
  while (close > 0 && (text.is(close, "const") || text.is(close, "override") || text.is(close, "noexcept"))) --close;
  if (!text.is(close, ")")) return false;
  const std::size_t open = text[close].partner;
  return open > 0 && !is_keyword_of_control(text.at(open - 1));
}

std::string line_directive(int line, const std::string& file) {
  return fmt::format("\n#line {} \"{}\"\n", line, file);
}

}  // namespace

MutatedSource::MutatedSource(const std::string& file, const std::string& text, const std::set<std::string>& tasks,
                             const std::vector<NumberedRow>& rows)
    : file_(file), text_(text) {
  for (const NumberedRow& row : rows) mutants_.push_back(make_mutant(row, tasks));
}

SourceMutant::Edit MutatedSource::make_edit(const Solution& row, const SourceChange& change,
                                            const std::set<std::string>& tasks) const {
  const std::string& text = text_.text();
  if (change.part > 0) {
    std::vector<Marked> parts = marked_parts(text);
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [&](const Marked& part) {
                                 return row.task.empty() ? tasks.count(part.task) == 0 : part.task != row.task;
                               }),
                parts.end());
    if (static_cast<std::size_t>(change.part) > parts.size())
      throw UsageError(fmt::format("{}: part {}: {} has {} of them", row.place, change.part, file_, parts.size()));
    const Marked& part = parts[static_cast<std::size_t>(change.part - 1)];
    return {part.begin, part.end - part.begin, "\n" + change.with + "\n"};
  }
  std::vector<std::size_t> places;  // a comment may have the same words
  for (const Token& token : text_.tokens()) places.push_back(token.begin);
  if (change.at) places = {*change.at};
  std::vector<std::size_t> own, marked, all;
  for (const std::size_t at : places) {
    if (at > text.size() || text.compare(at, change.replace.size(), change.replace) != 0) continue;
    const std::string task = task_at(text, at, at + change.replace.size());
    all.push_back(at);
    if (tasks.count(task) != 0) marked.push_back(at);
    if (task == row.task) own.push_back(at);
  }
  const std::vector<std::size_t>& found = !row.task.empty() && !own.empty() ? own : !marked.empty() ? marked : all;
  if (found.size() != 1)
    throw UsageError(fmt::format("{}: expected '{}' {} in {}, found it {} times", row.place, change.replace,
                                 change.at ? fmt::format("at byte {}", *change.at) : "once", file_, found.size()));
  return {found.front(), change.replace.size(), change.with};
}

SourceMutant MutatedSource::make_mutant(const NumberedRow& row, const std::set<std::string>& tasks) const {
  const std::string& text = text_.text();
  SourceMutant mutant;
  mutant.id = row.id;
  mutant.file = file_;
  mutant.rule = row.solution->rule;
  mutant.what = row.solution->what;
  std::size_t end = 0;
  for (const SourceChange& change : row.changes) mutant.edits.push_back(make_edit(*row.solution, change, tasks));
  std::sort(mutant.edits.begin(), mutant.edits.end(),
            [](const SourceMutant::Edit& a, const SourceMutant::Edit& b) { return a.at < b.at; });
  for (const SourceMutant::Edit& edit : mutant.edits) {
    if (edit.at < end) throw UsageError(fmt::format("{}: its changes of {} overlap", row.solution->place, file_));
    end = edit.at + edit.size;
    const auto function = function_at(edit.at);
    if (!function || end > text_[function->second].begin)
      throw UsageError(fmt::format("{}: '{}' is in no function", row.solution->place, text.substr(edit.at, edit.size)));
  }
  const std::size_t first = mutant.edits.front().at;
  mutant.task = task_at(text, first, first);
  mutant.line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n'));
  mutant.line_text = one_line(list_lines(text)[static_cast<std::size_t>(mutant.line - 1)]);
  return mutant;
}

std::optional<std::pair<std::size_t, std::size_t>> MutatedSource::function_at(std::size_t byte) const {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (!opens_body(text_, i)) continue;
    const std::size_t close = text_[i].partner;
    if (text_[i].begin < byte && byte < text_[close].begin) return std::make_pair(i, close);
    i = close;
  }
  return std::nullopt;
}

std::string MutatedSource::plain(const SourceMutant& mutant) const {
  std::string text = text_.text();
  for (auto edit = mutant.edits.rbegin(); edit != mutant.edits.rend(); ++edit)
    text.replace(edit->at, edit->size, edit->with);
  return text;
}

std::string MutatedSource::schemata(const std::vector<const SourceMutant*>& some) const {
  std::map<std::pair<std::size_t, std::size_t>, std::map<int, std::vector<const SourceMutant::Edit*>>> by_function;
  for (const SourceMutant* mutant : some) {
    for (const SourceMutant::Edit& edit : mutant->edits)
      by_function[*function_at(edit.at)][mutant->id].push_back(&edit);
  }
  std::string result =
      "#include <initializer_list>\nint lab_mutant(std::initializer_list<int> ids) noexcept;\n#line 1\n";
  std::size_t at = 0;
  for (const auto& [function, mutants] : by_function) {
    const std::size_t begin = text_[function.first].end, end = text_[function.second].begin;
    const std::string body = text_.text().substr(begin, end - begin);
    std::vector<int> ids;
    std::string others;
    for (const auto& [id, edits] : mutants) {
      ids.push_back(id);
      std::string changed = body;
      for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
        changed.replace((*edit)->at - begin, (*edit)->size, (*edit)->with);
      others += fmt::format("{}case {}: {{{}}} break;", line_directive(id * kLinesOfMutant, "mutant"), id, changed);
    }
    result += text_.text().substr(at, begin - at);
    result += fmt::format(" switch (lab_mutant({{{}}})) {{{}{}default: {{{}}}}}", fmt::join(ids, ", "), others,
                          line_directive(text_[function.first].line, file_), body);
    at = end;
  }
  return result + text_.text().substr(at);
}

}  // namespace lab::grading::generated
