#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/base/errors.h"
#include "common/base/numbers.h"
#include "common/pipeline/timeline_text.h"

namespace lab::pipeline {
namespace {

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
  std::vector<std::string> words;
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    words.push_back(fmt::format("rank {} {}", rank, number(peaks[rank])));
  }
  return fmt::format("peak live activations: {}", fmt::join(words, ", "));
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
