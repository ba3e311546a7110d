#include "common/pipeline/timeline_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/pipeline/timeline_arrows.h"
#include "common/report/counted.h"
#include "common/report/errors.h"

// Across the picture lies time in the axis' unit; down it a row per rank, 1 high, rank r's from r to r + 1.
namespace lab::pipeline {
namespace {

constexpr plot::Colour kIdle{0xE6E6E6};
constexpr double kNamePx = 11;    ///< of a computation's name, in a picture that is not too large
constexpr double kSidesPx = 110;  ///< beside the axis of time
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

  /// So wide that the names can be read, where the page allows; judged by the mean of the shortest kind of computation,
  /// as a single short one is no reason for a wide picture.
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
  double end_ = 1;  ///< of the axis of time
};

}  // namespace

plot::Diagram timeline_diagram(const Schedule& schedule, const Timeline& timeline, const TimelineLook& look) {
  return Drawing(schedule, timeline, look).diagram();
}

}  // namespace lab::pipeline
