#include "common/plot/timeline_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/errors.h"

namespace lab::plot {
namespace {

using nlohmann::json;

int integer_from(const json& value) {
  if (!value.is_number_integer())
    throw UsageError("expected a timeline's JSON: " + value.dump() + " is not an integer");
  return static_cast<int>(std::clamp<std::int64_t>(value.get<std::int64_t>(), -1, std::numeric_limits<int>::max()));
}

Colour colour_from(const json& rgb) {
  return {static_cast<std::uint32_t>(integer_from(rgb))};
}

Clock clock_from(const json& from) {
  Clock clock;
  clock.title = from.at("title");
  for (const json& box : from.at("boxes"))
    clock.boxes.push_back(
        {integer_from(box.at(0)), box.at(1), box.at(2), box.at(3), box.at(4), colour_from(box.at(5))});
  for (const json& arrow : from.at("arrows"))
    clock.arrows.push_back({integer_from(arrow.at(0)), integer_from(arrow.at(1)), arrow.at(2), arrow.at(3), arrow.at(4),
                            arrow.at(5), colour_from(arrow.at(6)), arrow.at(7)});
  for (const json& part : from.at("path"))
    clock.path.push_back({integer_from(part.at(0)), integer_from(part.at(1)), part.at(2), part.at(3)});
  clock.marks = from.at("marks").get<std::vector<double>>();
  return clock;
}

}  // namespace

json to_json(const Timeline& timeline) {
  json clocks = json::array(), legend = json::array();
  for (const Clock& clock : timeline.clocks) {
    json boxes = json::array(), arrows = json::array(), path = json::array();
    for (const Box& box : clock.boxes)
      boxes.push_back({box.rank, box.start, box.end, box.name, box.title, box.fill.rgb});
    for (const Arrow& arrow : clock.arrows)
      arrows.push_back({arrow.src_rank, arrow.dst_rank, arrow.start, arrow.end, arrow.label, arrow.title,
                        arrow.colour.rgb, arrow.dashed});
    for (const PathPart& part : clock.path) path.push_back({part.src_rank, part.dst_rank, part.start, part.end});
    clocks.push_back(
        {{"title", clock.title}, {"boxes", boxes}, {"arrows", arrows}, {"path", path}, {"marks", clock.marks}});
  }
  for (const LegendEntry& entry : timeline.legend) legend.push_back(json::array({entry.fill.rgb, entry.text}));
  return {{"title", timeline.title}, {"ranks", timeline.num_ranks}, {"legend", legend}, {"clocks", clocks}};
}

Timeline timeline_from_json(const json& from) {
  try {
    Timeline timeline;
    timeline.title = from.at("title");
    timeline.num_ranks = integer_from(from.at("ranks"));
    for (const json& clock : from.at("clocks")) timeline.clocks.push_back(clock_from(clock));
    for (const json& entry : from.at("legend")) timeline.legend.push_back({colour_from(entry.at(0)), entry.at(1)});
    return timeline;
  } catch (const json::exception& failure) {
    throw UsageError(std::string("expected a timeline's JSON: ") + failure.what());
  }
}

}  // namespace lab::plot
