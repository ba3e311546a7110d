#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/api/errors.h"
#include "common/base/numbers.h"
#include "common/pipeline/timeline.h"

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
  void drop_last() {
    if (!text_.empty()) text_.pop_back();
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

constexpr std::size_t kMostNamed = 8;  ///< ranks or links in one line

/// Four digits: enough for any comparison, and never more than a line can hold.
std::string number(double value) {
  return fmt::format("{:.{}g}", value, std::abs(value) < 1000 ? 4 : 6);
}

/// Formats the times of one timeline, all in the unit that suits the longest.
class Clock {
 public:
  Clock(const std::string& unit, double longest_seconds) {
    if (unit.empty()) return;
    if (unit != "s") {
      throw UsageError(fmt::format("unit '{}' of a timeline: expected 's' or '' (bare numbers)", unit));
    }
    if (longest_seconds >= 1 || longest_seconds == 0) {
      name_ = " s";
    } else if (longest_seconds >= 1e-3) {
      name_ = " ms";
      per_second_ = 1e3;
    } else {
      name_ = " us";
      per_second_ = 1e6;
    }
  }

  std::string bare(double seconds) const { return number(seconds * per_second_); }
  std::string with_unit(double seconds) const { return bare(seconds) + name_; }

 private:
  const char* name_ = "";
  double per_second_ = 1;
};

std::string first_line(const Timeline& timeline, const Clock& clock) {
  const auto [least, most] = std::minmax_element(timeline.busy_seconds.begin(), timeline.busy_seconds.end());
  const double makespan = timeline.makespan_seconds;
  std::string idle = clock.bare(makespan - *most);
  if (clock.bare(makespan - *least) != idle) idle += " to " + clock.bare(makespan - *least);
  return fmt::format("makespan {}, bubble {:.1f} % ({} of {} on each rank)", clock.with_unit(makespan),
                     100 * timeline.bubble_fraction(), idle, clock.with_unit(makespan));
}

std::string peaks_line(const std::vector<double>& peaks) {
  const auto [least, most] = std::minmax_element(peaks.begin(), peaks.end());
  if (*least == *most) return fmt::format("peak live activations: {} on each rank", number(*most));
  if (peaks.size() > kMostNamed) {
    return fmt::format("peak live activations: {} (rank {}) to {} (rank {})", number(*least), least - peaks.begin(),
                       number(*most), most - peaks.begin());
  }
  std::vector<std::string> parts;
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    parts.push_back(fmt::format("rank {} {}", rank, number(peaks[rank])));
  }
  return fmt::format("peak live activations: {}", fmt::join(parts, ", "));
}

/// One line for all links with the same traffic.
std::string links_line(const Link& link, std::vector<std::string> names) {
  const std::size_t count = names.size();
  if (count > kMostNamed) {
    names.resize(kMostNamed);
    names.push_back(fmt::format("... ({} links)", count));
  }
  return fmt::format("link{} {}: {} message{}{}{}", count == 1 ? "" : "s", fmt::join(names, ", "), link.messages,
                     link.messages == 1 ? "" : "s",
                     link.bytes == 0 ? "" : ", " + describe_bytes(static_cast<std::uint64_t>(link.bytes)),
                     count == 1 ? "" : " each");
}

}  // namespace

std::string timeline_text(const Schedule& schedule, const Timeline& timeline, int columns) {
  const int rank_digits = static_cast<int>(std::to_string(schedule.num_ranks - 1).size());
  const int room = columns - static_cast<int>(std::string("rank  ||").size()) - rank_digits;
  if (room < 1) {
    throw UsageError(fmt::format("a timeline of {} ranks does not fit into {} columns; expected at least {}",
                                 schedule.num_ranks, columns, columns - room + 1));
  }
  const double per_second = columns_per_second(timeline, room);
  const auto find_column = [&](double seconds) { return static_cast<std::size_t>(std::lround(seconds * per_second)); };
  std::vector<Line> lines(static_cast<std::size_t>(schedule.num_ranks), Line(find_column(timeline.makespan_seconds)));
  for (const Span& span : timeline.computations) {
    lines[static_cast<std::size_t>(span.rank)].computation(
        find_column(span.start_seconds), find_column(span.end_seconds), short_name(schedule, span.action));
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

std::string timeline_summary(const Schedule&, const Timeline& timeline, const std::string& unit) {
  std::vector<std::string> lines = {first_line(timeline, Clock(unit, timeline.makespan_seconds)),
                                    peaks_line(timeline.peak_live_activations)};
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::string>> equal_links;
  for (const auto& [ends, link] : timeline.links) {
    equal_links[{link.messages, link.bytes}].push_back(fmt::format("{} > {}", ends.first, ends.second));
  }
  for (auto group = equal_links.rbegin(); group != equal_links.rend(); ++group) {
    lines.push_back(links_line({group->first.first, group->first.second}, group->second));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace lab::pipeline
