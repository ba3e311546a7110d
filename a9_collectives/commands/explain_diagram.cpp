#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "a9_collectives/commands/explanation.h"

// Vertical lengths are in px; horizontally a column is 1 wide, and rank r's line is at r.
namespace lab::a9 {
namespace {

using Pieces = std::vector<Piece>;

constexpr double kBoxHeight = 36;
constexpr double kGap = 14;  ///< between boxes and the ranks' lines, and at the ends of an arrow
constexpr double kMostStepsHeight = 9000;
constexpr plot::Colour kSumColour{0xE4E4E4};
constexpr plot::Colour kUnknownColour{0xFFFFFF};

struct Labels {
  std::string collective;
  std::string title;
  std::string result;  ///< what has become of the chunks
};

Labels labels_for(const std::string& collective) {
  static const std::vector<Labels> all = {
      {"broadcast", "Broadcast from rank 0", "result,\nrank 0's\neverywhere"},
      {"allreduce", "All-reduce", "result,\nthe sum\neverywhere"},
      {"allgather", "All-gather", "result,\njoined in\nrank order"},
      {"reduce_scatter", "Reduce-scatter", "result,\none chunk of\nthe sum each"},
      {"all_to_all", "All-to-all", "result,\nreassembled in\nrank order"},
  };
  for (const Labels& labels : all) {
    if (labels.collective == collective) return labels;
  }
  return {collective, collective, "result"};
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// The palette without its last colour, yellow, which is unreadable for letters.
constexpr int kNumRankColours = plot::kNumColours - 1;

plot::Colour rank_colour(int rank) {
  return plot::colour(rank % kNumRankColours);
}

/// Ranks beyond the palette reuse the colours, with paler boxes and dashed arrows.
bool beyond_palette(int rank) {
  return rank >= kNumRankColours;
}

plot::Colour box_colour(int rank) {
  return plot::tint(rank_colour(rank), beyond_palette(rank) ? 0.4 : 0.75);
}

plot::Colour box_colour(const Piece& piece) {
  if (!piece.known()) return kUnknownColour;
  for (int rank = 0; rank < kMostProvenanceRanks; ++rank) {
    if (piece.ranks == RankSet{1} << rank) return box_colour(rank);
  }
  return kSumColour;
}

/// The number of boxes side by side: all if they are few, otherwise as many as the page width allows.
int boxes_per_row(int num_boxes, int num_ranks) {
  const int most = num_ranks <= 5 ? 8 : 4;
  const int rows = (num_boxes + most - 1) / most;
  return (num_boxes + rows - 1) / rows;
}

class Drawing {
 public:
  explicit Drawing(const Explanation& explanation) : from_(explanation), steps_(num_steps(explanation.messages)) {}

  plot::Diagram diagram() {
    const Labels labels = labels_for(from_.collective);
    picture_.y_down = true;
    picture_.x_ticks_on_top = true;
    picture_.title = fmt::format("{} on {} ranks, {}: {}", labels.title, from_.num_ranks, spaced(from_.algorithm),
                                 steps_text(from_));
    picture_.y.title = "time";
    const std::string split =
        from_.names.count() == 1 ? "input" : fmt::format("input,\nsplit in\n{} chunks", from_.names.count());
    boxes(from_.inputs, split);
    const double lines_from = now_ += kGap;
    double wanted = 0;
    for (int step = 1; step <= steps_; ++step) wanted += step_height(step);
    squeeze_ = std::min(1.0, kMostStepsHeight / wanted);
    for (int step = 1; step <= steps_; ++step) arrows(step);
    const double lines_to = now_;
    now_ += kGap;
    boxes(from_.results, labels.result);
    columns({lines_from, lines_to});
    picture_.x.title = note();
    picture_.y.range = plot::Range{-kGap, now_ + kGap};
    picture_.width_px = static_cast<int>(170 + column_px() * from_.num_ranks);
    const int label_lines = from_.num_ranks / 6;
    picture_.height_px = static_cast<int>(150 + 22 * label_lines + now_);
    return std::move(picture_);
  }

 private:
  double column_px() const { return from_.num_ranks <= 5 ? 200 : from_.num_ranks <= 8 ? 165 : 125; }

  void boxes(const std::vector<Pieces>& of_ranks, const std::string& label) {
    int most = 1;
    for (const Pieces& pieces : of_ranks) most = std::max(most, static_cast<int>(pieces.size()));
    const int per_row = boxes_per_row(most, from_.num_ranks);
    const double width = std::min(0.84 / per_row, 46 / column_px());
    const int num_rows = (most + per_row - 1) / per_row;
    const double height = num_rows * kBoxHeight;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      const auto count = static_cast<int>(of_ranks[rank].size());
      for (int i = 0; i < count; ++i) {
        const Piece& piece = of_ranks[rank][static_cast<std::size_t>(i)];
        const int row = i / per_row, column = i % per_row;
        const double x = static_cast<double>(rank) + (column - std::min(count, per_row) / 2.0) * width;
        const double y = now_ + row * kBoxHeight;
        picture_.boxes.push_back({x, y, x + width, y + kBoxHeight, box_colour(piece), from_.names.name(piece)});
      }
    }
    picture_.y.ticks.push_back({now_ + height / 2, label});
    now_ += height;
  }

  /// Room for the arrows that cross the middle between two ranks, on average.
  double step_height(int step) const {
    double columns = 0;
    for (const StepMessage& message : from_.messages) {
      if (message.step == step) columns += std::abs(message.dst_rank - message.src_rank);
    }
    return 64 + 36 * columns / (from_.num_ranks - 1);
  }

  void arrows(int step) {
    const double height = squeeze_ * step_height(step);
    for (const StepMessage& message : from_.messages) {
      if (message.step != step) continue;
      plot::Arrow arrow;
      arrow.x0 = message.src_rank;
      arrow.y0 = now_ + kGap;
      arrow.x1 = message.dst_rank;
      arrow.y1 = now_ + height - kGap;
      arrow.colour = rank_colour(message.src_rank);
      arrow.label = message.label;
      arrow.label_px = 13;
      arrow.dashed = beyond_palette(message.src_rank);
      picture_.arrows.push_back(arrow);
    }
    picture_.y.ticks.push_back({now_ + height / 2, fmt::format("step {}", step)});
    now_ += height;
    if (step < steps_) picture_.horizontal_guides.push_back({now_, plot::kLightGrey, true, {}});
  }

  void columns(plot::Range lines) {
    for (int rank = 0; rank < from_.num_ranks; ++rank) {
      picture_.x.ticks.push_back({static_cast<double>(rank), fmt::format("rank {}", rank)});
      picture_.vertical_guides.push_back({static_cast<double>(rank), plot::kGrey, false, lines});
      picture_.legend.push_back({box_colour(rank), fmt::format("{}: from rank {}", letter(rank), rank)});
    }
    picture_.x.range = plot::Range{-0.5, from_.num_ranks - 0.5};
    const auto is_sum = [](const plot::Box& box) { return box.fill.rgb == kSumColour.rgb; };
    if (std::any_of(picture_.boxes.begin(), picture_.boxes.end(), is_sum))
      picture_.legend.push_back({kSumColour, "a sum over ranks"});
  }

  bool any_text_has(const char* part) const {
    const auto has = [part](const std::string& text) { return text.find(part) != std::string::npos; };
    return std::any_of(picture_.arrows.begin(), picture_.arrows.end(),
                       [&](const plot::Arrow& arrow) { return has(arrow.label); }) ||
           std::any_of(picture_.boxes.begin(), picture_.boxes.end(),
                       [&](const plot::Box& box) { return has(box.text); });
  }

  /// How to read what is drawn.
  std::string note() const {
    const bool chunked = from_.names.count() > 1;
    std::string text = chunked ? "a1: chunk 1 of rank 0" : "a: what rank 0 has at first";
    if (any_text_has("+"))
      text += chunked ? "; 1:a+b: sum of chunk 1 over ranks 0 and 1" : "; a+b: sum over ranks 0 and 1";
    if (any_text_has("..")) text += any_text_has("+..+") ? "; a+c+..+o: a, c, e and so on to o" : "; a..d: a to d";
    if (any_text_has("Σ")) text += "; Σ: sum over all ranks";
    if (any_text_has("?")) text += "; ?: of unknown origin";
    return text + ". In one step, a rank sends at most one message and receives at most one.";
  }

  const Explanation& from_;
  const int steps_;
  plot::Diagram picture_;
  double now_ = 0;      ///< how far down the picture has been drawn
  double squeeze_ = 1;  ///< of the steps, if they do not all fit
};

}  // namespace

plot::Diagram explain_diagram(const Explanation& explanation) {
  return Drawing(explanation).diagram();
}

}  // namespace lab::a9
