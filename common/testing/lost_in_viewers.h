#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lab::testing {

/// What Perfetto drops of a Chrome trace, or shows elsewhere: how many slices and ends of arrows, and the first; empty:
/// it shows all. Times are rounded to nanoseconds. The slices of a row (a thread of a process) nest or are disjoint: of
/// two that cross, the later one is dropped. An arrow's end belongs to the slice of its row that began last, which must
/// not be over; an arrow's id is a number, and it begins before it ends.
/// Source    Perfetto's FAQ, "Why are overlapping events in JSON traces not displayed correctly?", and its importer
///           (slice_tracker.cc, flow_tracker.cc, json_trace_parser_impl.cc)
inline std::string lost_in_viewers(const nlohmann::json& trace) {
  const auto nanoseconds = [](const nlohmann::json& us) { return std::llround(us.get<double>() * 1e3); };
  std::vector<nlohmann::json> events;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "M") events.push_back(event);
  }
  std::stable_sort(events.begin(), events.end(), [&](const nlohmann::json& a, const nlohmann::json& b) {
    return nanoseconds(a.at("ts")) < nanoseconds(b.at("ts"));
  });
  std::map<std::pair<int, int>, std::vector<std::int64_t>> ends;  // by row: of its open slices, from the outermost
  std::set<nlohmann::json> begun;
  std::map<bool, int> all, lost;  // true: slices
  std::string first;
  for (const nlohmann::json& event : events) {
    const bool is_slice = event.at("ph") == "X";
    std::vector<std::int64_t>& open = ends[{event.at("pid"), event.at("tid")}];
    const std::int64_t start = nanoseconds(event.at("ts"));
    bool shown = false;
    if (is_slice) {
      const std::int64_t end = start + nanoseconds(event.at("dur"));
      while (!open.empty() && open.back() <= start) open.pop_back();
      shown = open.empty() || end <= open.back();
      if (shown) open.push_back(end);
    } else {
      shown = !open.empty() && start <= open.back() && event.at("id").is_number() &&
              (event.at("ph") == "s" ? begun.insert(event.at("id")).second : begun.count(event.at("id")) == 1);
    }
    ++all[is_slice];
    if (!shown && lost[is_slice]++ + lost[!is_slice] == 0) first = event.dump();
  }
  if (first.empty()) return "";
  return fmt::format("{} of {} slices and {} of {} ends of arrows, such as {}", lost[true], all[true], lost[false],
                     all[false], first);
}

}  // namespace lab::testing
