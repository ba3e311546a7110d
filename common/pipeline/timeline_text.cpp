#include "common/pipeline/timeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/errors.h"

namespace lab::pipeline {
namespace {

/// As many columns per second as fit. If all times are multiples of the shortest computation, that one gets an integer
/// number of columns: then equal computations are equally wide.
double columns_per_second(const Timeline& timeline, int columns) {
  if (timeline.makespan_seconds <= 0) return 0;
  const double most = columns / timeline.makespan_seconds;
  double shortest = std::numeric_limits<double>::infinity();
  for (const Span& span : timeline.computations) {
    const double seconds = span.end_seconds - span.start_seconds;
    if (seconds > 0) shortest = std::min(shortest, seconds);
  }
  const auto is_multiple = [shortest](double seconds) {
    const double count = seconds / shortest;
    return std::abs(count - std::round(count)) < 1e-6;
  };
  const bool regular = std::all_of(timeline.computations.begin(), timeline.computations.end(), [&](const Span& span) {
    return is_multiple(span.start_seconds) && is_multiple(span.end_seconds);
  });
  const double whole = std::floor(shortest * most + 1e-6);
  return regular && whole >= 1 ? whole / shortest : most;
}

/// A line between its bars: dots where the rank is idle.
class Line {
 public:
  explicit Line(std::size_t columns) : text_(columns, '.') {}

  /// Columns [from, to): the name, or its first letter where it does not fit, then dashes. A name with room to spare
  /// has a free column on either side.
  void computation(std::size_t from, std::size_t to, const std::string& name) {
    if (from >= to) return;
    const std::size_t width = to - from;
    std::string cell = name.size() <= width ? name : name.substr(0, 1);
    cell.resize(width, '-');
    if (name.size() < width) {
      cell.back() = ' ';
      if (from >= 2 && text_[from - 1] == '.' && text_[from - 2] == '.') text_[from - 1] = ' ';
    }
    text_.replace(from, width, cell);
  }

  bool ends_free() const { return text_.empty() || text_.back() == '.' || text_.back() == ' '; }
  void drop_last() { text_.resize(text_.size() - std::min<std::size_t>(text_.size(), 1)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string timeline_text(const Schedule& schedule, const Timeline& timeline, int columns) {
  const int rank_digits = static_cast<int>(std::to_string(schedule.num_ranks - 1).size());
  const int room = columns - static_cast<int>(std::string("rank  ||").size()) - rank_digits;
  if (room < 1) {
    throw UsageError(fmt::format("a timeline of {} ranks does not fit into {} columns; expected at least {}",
                                 schedule.num_ranks, columns, columns - room + 1));
  }
  const double per_second = columns_per_second(timeline, room);
  const auto column_of = [&](double seconds) { return static_cast<std::size_t>(std::lround(seconds * per_second)); };
  std::vector<Line> lines(static_cast<std::size_t>(schedule.num_ranks), Line(column_of(timeline.makespan_seconds)));
  for (const Span& span : timeline.computations) {
    lines[static_cast<std::size_t>(span.rank)].computation(column_of(span.start_seconds), column_of(span.end_seconds),
                                                           short_name(schedule, span.action));
  }
  // The bar then takes the place of the last free column.
  if (std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.ends_free(); })) {
    for (Line& line : lines) line.drop_last();
  }
  std::string text;
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    text += fmt::format("rank {:>{}} |{}|\n", rank, rank_digits, lines[static_cast<std::size_t>(rank)].text());
  }
  return text;
}

}  // namespace lab::pipeline
