#include "common/plot/timeline_json.h"

#include "common/base/json.h"

namespace lab::plot {

using nlohmann::json;

LAB_JSON_ROW(Box, rank, start, end, name, title, fill.rgb)
LAB_JSON_ROW(Arrow, src_rank, dst_rank, start, end, label, title, colour.rgb, dashed)
LAB_JSON_ROW(PathPart, src_rank, dst_rank, start, end)
LAB_JSON_ROW(LegendEntry, fill.rgb, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Clock, title, boxes, arrows, path, marks)

json to_json(const Timeline& timeline) {
  return {{"title", timeline.title},
          {"ranks", timeline.num_ranks},
          {"legend", timeline.legend},
          {"clocks", timeline.clocks}};
}

Timeline timeline_from_json(const json& from) {
  try {
    Timeline timeline;
    from.at("title").get_to(timeline.title);
    get_field(from.at("ranks"), timeline.num_ranks);
    from.at("clocks").get_to(timeline.clocks);
    from.at("legend").get_to(timeline.legend);
    return timeline;
  } catch (const std::exception& failure) {
    throw UsageError(std::string("expected a timeline's JSON: ") + failure.what());
  }
}

}  // namespace lab::plot
