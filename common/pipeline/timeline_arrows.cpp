#include "common/pipeline/timeline_arrows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lab::pipeline {
namespace {

constexpr plot::Colour kForwardMessage{0x222222};
constexpr plot::Colour kBackwardMessage{0xC00000};
constexpr double kLabelPx = 10;
constexpr double kApartPx = 4;      ///< from the middle between two arrows that would cover each other
constexpr double kHeadRoomPx = 13;  ///< heads that come closer, on average, would be a black bar

const char* name_of(const plot::Arrow& arrow, bool send) {
  if (arrow.colour.rgb == kForwardMessage.rgb) return send ? "send_forward" : "recv_forward";
  return send ? "send_backward" : "recv_backward";
}

class Arrows {
 public:
  Arrows(const Schedule& schedule, const Timeline& timeline, const Rows& rows, plot::Diagram& picture)
      : schedule_(schedule),
        timeline_(timeline),
        rows_(rows),
        picture_(picture),
        between_(static_cast<std::size_t>(schedule.num_ranks)) {}

  void add() {
    for (const Span& span : timeline_.messages) message(span);
    for (auto& arrows : between_) finish(arrows);
    picture_.legend.push_back({kForwardMessage, "send_forward to recv_forward"});
    picture_.legend.push_back({kBackwardMessage, "send_backward to recv_backward"});
  }

 private:
  double top(int rank) const { return rank + rows_.half_gap; }
  double bottom(int rank) const { return rank + 1 - rows_.half_gap; }
  double units(double px) const { return px / rows_.px_per_unit; }

  void message(const Span& span) {
    const int dst_rank = peer_rank(schedule_, span.rank, span.action);
    const double x0 = span.start_seconds * rows_.units_per_second;
    const double x1 = span.end_seconds * rows_.units_per_second;
    const plot::Colour colour = span.action.operation == Operation::kSendForward ? kForwardMessage : kBackwardMessage;
    if (dst_rank == span.rank + 1) {
      of_gap_above(dst_rank).push_back({x0, bottom(span.rank), x1, top(dst_rank), colour});
    } else if (dst_rank == span.rank - 1) {
      of_gap_above(span.rank).push_back({x0, top(span.rank), x1, bottom(dst_rank), colour});
    } else {
      go_round(span.rank, x0, x1, colour);
    }
  }

  std::vector<plot::Arrow>& of_gap_above(int rank) { return between_[static_cast<std::size_t>(rank)]; }

  /// Between the last rank and rank 0. Across all rows it would only be in the way.
  void go_round(int src_rank, double x0, double x1, plot::Colour colour) {
    const int last = schedule_.num_ranks - 1;
    const double above = -rows_.half_gap / 2;
    const double below = schedule_.num_ranks + rows_.half_gap / 2;
    if (src_rank == last) {
      picture_.arrows.push_back({x0, bottom(last), x0, below, colour});
      picture_.arrows.push_back({x1, above, x1, top(0), colour});
    } else {
      picture_.arrows.push_back({x0, top(0), x0, above, colour});
      picture_.arrows.push_back({x1, below, x1, bottom(last), colour});
    }
    if (goes_round_) return;
    goes_round_ = true;
    picture_.y.range = plot::Range{-rows_.half_gap, schedule_.num_ranks + rows_.half_gap};
    picture_.x.title +=
        fmt::format("; arrows above the first row and below the last one go round, between rank {} and rank 0", last);
  }

  void finish(std::vector<plot::Arrow>& arrows) {
    std::stable_sort(arrows.begin(), arrows.end(),
                     [](const plot::Arrow& a, const plot::Arrow& b) { return a.x0 < b.x0; });
    for (std::size_t i = 1; i < arrows.size(); ++i) part(arrows[i - 1], arrows[i]);
    const double all = picture_.x.range->high;
    const bool heads = units(kHeadRoomPx) * static_cast<double>(arrows.size()) <= all;
    for (std::size_t i = 0; i < arrows.size(); ++i) {
      arrows[i].head = heads;
      picture_.arrows.push_back(arrows[i]);
      label(arrows[i], i + 1 < arrows.size() ? arrows[i + 1].x0 : all);
    }
  }

  /// Two messages that pass each other at the same time.
  void part(plot::Arrow& left, plot::Arrow& right) const {
    if (left.colour.rgb == right.colour.rgb) return;
    const double least = units(2 * kApartPx);
    if (right.x0 - left.x0 >= least || std::abs(right.x1 - left.x1) >= least) return;
    const double shift = (least - (right.x0 - left.x0)) / 2;
    left.x0 -= shift;
    left.x1 -= shift;
    right.x0 += shift;
    right.x1 += shift;
  }

  /// Beside the head, where the gap and the distance to the next arrow leave room.
  void label(const plot::Arrow& arrow, double next) {
    const bool down = arrow.y1 > arrow.y0;
    const double gap_px = 2 * rows_.half_gap * rows_.row_px;
    const double wanted = units(plot::text_width(name_of(arrow, true), kLabelPx) + 12);
    if (gap_px < 2.6 * kLabelPx || next - arrow.x1 < wanted) return;
    const double x = arrow.x1 + units(7);
    const double middle = (arrow.y0 + arrow.y1) / 2;
    const double line = rows_.half_gap / 2;
    const auto write = [&](double y, bool send) {
      picture_.texts.push_back({x, y, name_of(arrow, send), kLabelPx, plot::Align::kLeft, arrow.colour});
    };
    write(middle - line, down);
    write(middle + line, !down);
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const Rows& rows_;
  plot::Diagram& picture_;
  std::vector<std::vector<plot::Arrow>> between_;  ///< in the gap above each rank's row
  bool goes_round_ = false;
};

}  // namespace

void add_arrows(const Schedule& schedule, const Timeline& timeline, const Rows& rows, plot::Diagram& picture) {
  Arrows(schedule, timeline, rows, picture).add();
}

}  // namespace lab::pipeline
