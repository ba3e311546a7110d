#include "common/comm/trace/trace_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/comm/messages/model_time.h"
#include "common/comm/trace/trace_diagram.h"

namespace lab::comm {
namespace {

constexpr double kGap = 0.7;  // between the two halves, in rows

/// The diagram moved down by some rows, its x in another unit.
void move(plot::Diagram& diagram, double down, double x_factor) {
  for (plot::Box& box : diagram.boxes) {
    box.x0 *= x_factor;
    box.x1 *= x_factor;
    box.y0 += down;
    box.y1 += down;
  }
  for (plot::Arrow& arrow : diagram.arrows) {
    arrow.x0 *= x_factor;
    arrow.x1 *= x_factor;
    arrow.y0 += down;
    arrow.y1 += down;
  }
  for (plot::Tick& tick : diagram.x.ticks) tick.at *= x_factor;
  for (plot::Tick& tick : diagram.y.ticks) tick.at += down;
  for (plot::Guide& guide : diagram.horizontal_guides) guide.at += down;
}

template <typename List>
void append(List& list, List more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Of the title "Trace of 4 ranks: ...; makespan 3 ms" the end.
std::string makespan_of(const std::string& title) {
  const std::size_t at = title.find("; makespan ");
  return at == std::string::npos ? "" : title.substr(at + 11);
}

}  // namespace

plot::Diagram trace_picture(const std::vector<TraceEvent>& events) {
  plot::Diagram picture = trace_diagram(events);
  const std::vector<TraceEvent> in_model = in_model_time(events);
  const bool has_model_time =
      std::any_of(in_model.begin(), in_model.end(), [](const TraceEvent& event) { return event.model_end > 0; });
  if (!has_model_time) return picture;

  plot::Diagram model =
      trace_diagram(in_model, {fmt::format("model time ({}); the critical path is red", rates_text(ModelRates())), 0.0,
                               critical_paths(in_model)});
  const double num_rows = picture.y.range->high - picture.y.range->low, down = num_rows + kGap - 1;
  move(model, down, picture.x.range->high / model.x.range->high);
  picture.title += ", " + makespan_of(model.title) + " in model time";
  picture.x_top = std::exchange(picture.x, {});
  picture.x.title = model.x.title;
  picture.x.ticks = std::move(model.x.ticks);
  picture.x.range = picture.x_top.range;
  picture.x_top.range.reset();
  picture.y.range->high = model.y.range->high + down;
  append(picture.y.ticks, std::move(model.y.ticks));
  append(picture.horizontal_guides, std::move(model.horizontal_guides));
  append(picture.boxes, std::move(model.boxes));
  append(picture.arrows, std::move(model.arrows));
  append(picture.texts, std::move(model.texts));
  constexpr int kOneFrame = 140;  // what trace_diagram() adds for title, axes and legend
  picture.height_px += model.height_px - kOneFrame + 80;
  picture.width_px = std::max(picture.width_px, model.width_px);
  return picture;
}

}  // namespace lab::comm
