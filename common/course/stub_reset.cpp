#include "common/course/stub_reset.h"

#include <algorithm>
#include <string_view>

#include "common/course/lines.h"
#include "common/course/markers.h"

namespace lab {
namespace {

using Lines = std::vector<std::string>;

/// "a9.broadcast" of "  // TODO(a9.broadcast): ..."; empty: the line begins no TODO.
std::string todo_in(const std::string& line) {
  constexpr std::string_view kBegin = "// TODO(";
  const std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line.compare(at, kBegin.size(), kBegin) != 0) return "";
  const std::size_t begin = at + kBegin.size();
  return line.substr(begin, line.find(')', begin) - begin);
}

bool ends_block(const std::string& line, std::size_t indentation) {
  const std::size_t first = line.find_first_not_of(" \t\r\n");
  return first != std::string::npos && first < indentation;
}

/// A piece of the pristine file: provided lines, or a task's TODO.
struct PristinePiece {
  std::string task;  ///< empty: provided
  Lines lines;
};

/// Provided lines and TODOs by turns, provided ones first and last; those between two TODOs may be none.
std::vector<PristinePiece> pieces_of_pristine(const std::string& text) {
  std::vector<PristinePiece> pieces = {{}};
  std::size_t indentation = 0;
  for (const std::string& line : lines_of(text)) {
    const std::string task = todo_in(line);
    if (!task.empty()) {
      if (!pieces.back().task.empty()) pieces.emplace_back();
      pieces.push_back({task, {}});
      indentation = line.find_first_not_of(" \t");
    } else if (!pieces.back().task.empty() && ends_block(line, indentation)) {
      pieces.emplace_back();
    }
    pieces.back().lines.push_back(line);
  }
  if (!pieces.back().task.empty()) pieces.emplace_back();
  return pieces;
}

/// Where each of the inner pieces begins if every one is placed as early as can be, between `begin` and `end`; nothing
/// if they do not all occur there in order.
std::optional<std::vector<std::size_t>> earliest_places(const Lines& lines, const std::vector<Lines>& pieces,
                                                        std::size_t begin, std::size_t end) {
  std::vector<std::size_t> places;
  const auto to = lines.begin() + static_cast<std::ptrdiff_t>(end);
  for (const Lines& piece : pieces) {
    const auto found = std::search(lines.begin() + static_cast<std::ptrdiff_t>(begin), to, piece.begin(), piece.end());
    if (found == to || piece.empty()) return std::nullopt;
    places.push_back(static_cast<std::size_t>(found - lines.begin()));
    begin = places.back() + piece.size();
  }
  return places;
}

/// The same as late as can be: as early as can be, seen from the end.
std::optional<std::vector<std::size_t>> latest_places(const Lines& lines, std::vector<Lines> pieces, std::size_t begin,
                                                      std::size_t end) {
  std::reverse(pieces.begin(), pieces.end());
  for (Lines& piece : pieces) std::reverse(piece.begin(), piece.end());
  const std::size_t size = lines.size();
  auto places = earliest_places({lines.rbegin(), lines.rend()}, pieces, size - end, size - begin);
  if (!places) return std::nullopt;
  for (std::size_t i = 0; i < pieces.size(); ++i) (*places)[i] = size - (*places)[i] - pieces[i].size();
  std::reverse(places->begin(), places->end());
  return places;
}

/// The student's lines in the place of each TODO, in order; nothing where the provided lines do not say which.
std::optional<std::vector<Lines>> work_between(const std::vector<PristinePiece>& pieces, const Lines& current) {
  const Lines& first = pieces.front().lines;
  const Lines& last = pieces.back().lines;
  if (current.size() < first.size() + last.size()) return std::nullopt;
  if (!std::equal(first.begin(), first.end(), current.begin())) return std::nullopt;
  if (!std::equal(last.rbegin(), last.rend(), current.rbegin())) return std::nullopt;
  std::vector<Lines> inner;
  for (std::size_t i = 2; i + 1 < pieces.size(); i += 2) inner.push_back(pieces[i].lines);
  const std::size_t begin = first.size(), end = current.size() - last.size();
  auto places = earliest_places(current, inner, begin, end);
  if (!places || places != latest_places(current, inner, begin, end)) return std::nullopt;

  std::vector<Lines> work;
  std::size_t at = begin;
  places->push_back(end);
  inner.emplace_back();
  for (std::size_t i = 0; i < inner.size(); ++i) {
    work.emplace_back(current.begin() + static_cast<std::ptrdiff_t>(at),
                      current.begin() + static_cast<std::ptrdiff_t>((*places)[i]));
    at = (*places)[i] + inner[i].size();
  }
  return work;
}

void append(std::string& text, const Lines& lines) {
  for (const std::string& line : lines) text += line;
}

}  // namespace

std::vector<std::string> todos_in(const std::string& text) {
  std::vector<std::string> tasks;
  for (const std::string& line : lines_of(text)) {
    const std::string task = todo_in(line);
    if (!task.empty() && std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
  }
  return tasks;
}

std::optional<std::string> with_stub_again(const std::string& pristine, const std::string& current,
                                           const std::string& task) {
  const std::vector<PristinePiece> pieces = pieces_of_pristine(pristine);
  const auto work = work_between(pieces, lines_of(current));
  if (!work) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool provided = pieces[i].task.empty();
    append(text, provided || pieces[i].task == task ? pieces[i].lines : (*work)[i / 2]);
  }
  return text;
}

std::optional<std::string> with_region_as_stub(const std::string& text, const std::string& task) {
  std::string changed;
  bool found = false;
  for (const SourcePart& part : parse_solution_markers(text)) {
    found = found || part.task == task;
    changed += part.task == task ? join_starter({part}) : join_reference({part});
  }
  return found ? std::optional(changed) : std::nullopt;
}

}  // namespace lab
