#include "common/pipeline/timeline_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/base/errors.h"
#include "common/base/text.h"

// Horizontally, time in the axis' unit; vertically, a row of height 1 per rank, rank r's from r to r + 1.
namespace lab::pipeline {
namespace {

/// Where the rows are: rank r's from r + half_gap to r + 1 - half_gap.
struct Rows {
  double units_per_second = 1;  ///< of the time axis
  double px_per_unit = 1;
  double row_px = 1;
  double half_gap = 0;
};

constexpr plot::Colour kForwardMessage{0x222222};
constexpr plot::Colour kBackwardMessage{0xC00000};
constexpr double kLabelPx = 10;
constexpr double kApartPx = 4;      ///< from the middle between two arrows that would overlap
constexpr double kHeadRoomPx = 13;  ///< closer heads, on average, would merge into a black bar

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

  /// Between the last rank and rank 0: across all rows, the arrow would be in the way.
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

  /// Next to the head, where the gap and the distance to the next arrow leave room.
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

/// Adds the timeline's messages to the picture, and their meaning to its legend.
void add_arrows(const Schedule& schedule, const Timeline& timeline, const Rows& rows, plot::Diagram& picture) {
  Arrows(schedule, timeline, rows, picture).add();
}

constexpr plot::Colour kIdle{0xE6E6E6};
constexpr double kNamePx = 11;    ///< of a computation's name, in a picture that is not too large
constexpr double kSidesPx = 110;  ///< next to the time axis
constexpr double kLeastWidthPx = 760;
constexpr double kMostWidthPx = 2400;
constexpr int kNumMicroBatchColours = plot::kNumColours - 2;  ///< without almost black and yellow

double units_per_second(const std::string& unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "ms") return 1e3;
  if (unit == "us") return 1e6;
  throw UsageError(fmt::format("unit '{}' of a timeline's axis: expected '', 's', 'ms' or 'us'", unit));
}

double strength(Operation operation) {
  switch (operation) {
    case Operation::kForward: return 0.38;
    case Operation::kBackwardWeight: return 0.65;
    default: return 1;
  }
}

plot::Colour fill_of(const Action& action) {
  return plot::tint(plot::colour(action.micro_batch % kNumMicroBatchColours), strength(action.operation));
}

class Drawing {
 public:
  Drawing(const Schedule& schedule, const Timeline& timeline, const TimelineLook& look)
      : schedule_(schedule), timeline_(timeline), look_(look), scale_(units_per_second(look.time_unit)) {}

  plot::Diagram diagram() {
    picture_.title = look_.title.empty() ? title() : look_.title;
    picture_.y_down = true;
    axes();
    size();
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
      picture_.boxes.push_back({0, row_top(rank), end_, row_bottom(rank), kIdle});
    }
    for (const Span& span : timeline_.computations) computation(span);
    legend();
    if (look_.messages) {
      const double px_per_unit = (picture_.width_px - kSidesPx) / end_;
      add_arrows(schedule_, timeline_, {scale_, px_per_unit, row_px(), half_gap()}, picture_);
    }
    return std::move(picture_);
  }

 private:
  /// Arrows need room between the rows.
  double half_gap() const { return look_.messages ? 0.23 : 0.08; }
  double row_px() const { return std::clamp(1400.0 / schedule_.num_ranks, 16.0, look_.messages ? 76.0 : 44.0); }
  double row_top(int rank) const { return rank + half_gap(); }
  double row_bottom(int rank) const { return rank + 1 - half_gap(); }
  double x(double seconds) const { return seconds * scale_; }

  std::string title() const {
    const std::string chunks = schedule_.num_chunks > 1 ? fmt::format(", {} chunks a rank", schedule_.num_chunks) : "";
    const std::string unit = look_.time_unit.empty() ? "" : " " + look_.time_unit;
    return fmt::format("{}: {}, {}{}, makespan {:.4g}{}, bubble {:.1f} %", schedule_.kind,
                       counted(schedule_.num_ranks, "rank"),
                       counted(schedule_.num_micro_batches, "micro-batch", "micro-batches"), chunks,
                       x(timeline_.makespan_seconds), unit, 100 * timeline_.bubble_fraction());
  }

  void axes() {
    end_ = timeline_.makespan_seconds > 0 ? x(timeline_.makespan_seconds) : 1;
    picture_.x.title = look_.time_unit.empty() ? "time" : fmt::format("time [{}]", look_.time_unit);
    picture_.x.range = plot::Range{0, end_};
    picture_.x.ticks = plot::ticks(*picture_.x.range, false, plot::Unit::kPlain);
    picture_.y.range = plot::Range{0, static_cast<double>(schedule_.num_ranks)};
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
      picture_.y.ticks.push_back({rank + 0.5, fmt::format("rank {}", rank)});
    }
  }

  /// Wide enough to read the names, if the page allows; based on the mean of the shortest kind of computation, as a
  /// single short one does not justify a wide picture.
  void size() {
    std::map<Operation, std::pair<double, double>> seconds_and_count;
    double name_px = 0;
    for (const Span& span : timeline_.computations) {
      auto& [seconds, count] = seconds_and_count[span.action.operation];
      seconds += span.end_seconds - span.start_seconds;
      ++count;
      name_px = std::max(name_px, plot::text_width(short_name(schedule_, span.action), kNamePx));
    }
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto& [operation, sum] : seconds_and_count) {
      if (sum.first > 0) shortest = std::min(shortest, sum.first / sum.second);
    }
    picture_.width_px = static_cast<int>(
        std::clamp(kSidesPx + 1.1 * name_px * timeline_.makespan_seconds / shortest, kLeastWidthPx, kMostWidthPx));
    picture_.height_px = static_cast<int>(120 + row_px() * schedule_.num_ranks);
  }

  void computation(const Span& span) {
    picture_.boxes.push_back({x(span.start_seconds), row_top(span.rank), x(span.end_seconds), row_bottom(span.rank),
                              fill_of(span.action), short_name(schedule_, span.action)});
  }

  void legend() {
    const plot::Colour sample = plot::colour(0);
    const auto add = [&](Operation operation, const char* text) {
      picture_.legend.push_back({plot::tint(sample, strength(operation)), text});
    };
    const auto is_half = [](const Span& span) { return span.action.operation == Operation::kBackwardInput; };
    add(Operation::kForward, "F: forward (a colour per micro-batch)");
    if (std::any_of(timeline_.computations.begin(), timeline_.computations.end(), is_half)) {
      add(Operation::kBackwardInput, "I: backward, input");
      add(Operation::kBackwardWeight, "W: backward, weights");
    } else {
      add(Operation::kBackward, "B: backward");
    }
    picture_.legend.push_back({kIdle, "idle"});
  }

  const Schedule& schedule_;
  const Timeline& timeline_;
  const TimelineLook& look_;
  const double scale_;
  plot::Diagram picture_;
  double end_ = 1;  ///< of the time axis
};

}  // namespace

plot::Diagram timeline_diagram(const Schedule& schedule, const Timeline& timeline, const TimelineLook& look) {
  return Drawing(schedule, timeline, look).diagram();
}

}  // namespace lab::pipeline
