#include "grading/mutants/generated/source_mutants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/toml_table.h"

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
  for (const std::string& line : lines_of(text)) {
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

std::vector<SolutionRow> load_rows(const std::string& path) {
  const TomlTable file = TomlTable::load(path);
  file.require_known({"solution"});
  std::vector<SolutionRow> rows;
  for (const TomlTable& table : file.tables("solution")) {
    table.require_known({"file", "task", "rule", "what", "expected", "at", "replace", "with"});
    SolutionRow row{table.string("file"),    table.string("task", ""), table.string("rule"), table.string("what"), {},
                    table.string("replace"), table.string("with"),     table.place()};
    if (table.has("at")) {
      const double at = table.number("at");
      if (at < 0) throw UsageError(fmt::format("{}: at = {}: expected a byte of the file", row.place, at));
      row.at = static_cast<std::size_t>(at);
    }
    if (table.string("expected") != "wrong")
      throw UsageError(fmt::format("{}: expected = \"wrong\", got \"{}\"", row.place, table.string("expected")));
    rows.push_back(std::move(row));
  }
  return rows;
}

MutatedSource::MutatedSource(const std::string& file, const std::string& text, const std::set<std::string>& tasks,
                             const std::vector<std::pair<int, SolutionRow>>& rows)
    : file_(file), text_(text) {
  for (const auto& [id, row] : rows) {
    mutants_.push_back(mutant_of(row, tasks));
    mutants_.back().id = id;
  }
}

SourceMutant MutatedSource::mutant_of(const SolutionRow& row, const std::set<std::string>& tasks) const {
  const std::string& text = text_.text();
  SourceMutant mutant;
  mutant.file = file_;
  mutant.rule = row.rule;
  mutant.what = row.what;
  mutant.size = row.replace.size();
  mutant.with = row.with;
  int times = 0;
  std::vector<std::size_t> places;  // a comment may have the same words
  for (const Token& token : text_.tokens()) places.push_back(token.begin);
  if (row.at) places = {*row.at};
  for (const std::size_t at : places) {
    if (at > text.size() || text.compare(at, row.replace.size(), row.replace) != 0) continue;
    const std::string task = task_at(text, at, at + row.replace.size());
    if (tasks.count(task) == 0 || (!row.task.empty() && row.task != task)) continue;
    mutant.at = at;
    mutant.task = task;
    ++times;
  }
  if (times != 1)
    throw UsageError(fmt::format("{}: expected '{}' {} between the markers of {}, found it {} times", row.place,
                                 row.replace, row.at ? fmt::format("at byte {}", *row.at) : "once", file_, times));
  if (!function_at(mutant.at)) throw UsageError(fmt::format("{}: '{}' is in no function", row.place, row.replace));
  mutant.line =
      1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mutant.at), '\n'));
  mutant.line_text = one_line(lines_of(text)[static_cast<std::size_t>(mutant.line - 1)]);
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
  return text.replace(mutant.at, mutant.size, mutant.with);
}

std::string MutatedSource::schemata(const std::vector<const SourceMutant*>& some) const {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const SourceMutant*>> by_function;
  for (const SourceMutant* mutant : some) by_function[*function_at(mutant->at)].push_back(mutant);
  std::string result =
      "#include <initializer_list>\nint lab_mutant(std::initializer_list<int> ids) noexcept;\n#line 1\n";
  std::size_t at = 0;
  for (const auto& [function, mutants] : by_function) {
    const std::size_t begin = text_[function.first].end, end = text_[function.second].begin;
    const std::string body = text_.text().substr(begin, end - begin);
    std::vector<int> ids;
    std::string others;
    for (const SourceMutant* mutant : mutants) {
      ids.push_back(mutant->id);
      std::string changed = body;
      changed.replace(mutant->at - begin, mutant->size, mutant->with);
      others += fmt::format("{}case {}: {{{}}} break;", line_directive(mutant->id * kLinesOfMutant, "mutant"),
                            mutant->id, changed);
    }
    result += text_.text().substr(at, begin - at);
    result += fmt::format(" switch (lab_mutant({{{}}})) {{{}{}default: {{{}}}}}", fmt::join(ids, ", "), others,
                          line_directive(text_[function.first].line, file_), body);
    at = end;
  }
  return result + text_.text().substr(at);
}

}  // namespace lab::grading::generated
