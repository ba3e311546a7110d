#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "a9_collectives/commands/explanation.h"

// A px is a second of the picture's time.
namespace lab::a9 {
namespace {

using Pieces = std::vector<Piece>;

constexpr double kBoxWidth = 46;
constexpr double kGap = 24;  ///< between boxes and arrows
constexpr double kMostStepsWidth = 8000;
constexpr plot::Colour kSumColour{0xE4E4E4};
constexpr plot::Colour kUnknownColour{0xFFFFFF};

struct Labels {
  std::string collective;
  std::string title;
  std::string result;  ///< what has become of the chunks
};

Labels labels_for(const std::string& collective) {
  static const std::vector<Labels> all = {
      {"broadcast", "Broadcast from rank 0", "result: rank 0's everywhere"},
      {"allreduce", "All-reduce", "result: the sum everywhere"},
      {"allgather", "All-gather", "result: joined in rank order"},
      {"reduce_scatter", "Reduce-scatter", "result: one chunk of the sum each"},
      {"all_to_all", "All-to-all", "result: reassembled in rank order"},
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

class Drawing {
 public:
  explicit Drawing(const Explanation& explanation) : from_(explanation), steps_(num_steps(explanation.messages)) {}

  plot::Timeline diagram() {
    const Labels labels = labels_for(from_.collective);
    picture_.title = fmt::format("{} on {} ranks, {}: {}", labels.title, from_.num_ranks, spaced(from_.algorithm),
                                 steps_text(from_));
    picture_.num_ranks = from_.num_ranks;
    boxes(from_.inputs,
          from_.names.count() == 1 ? "input" : fmt::format("input, split in {} chunks", from_.names.count()));
    double wanted = 0;
    for (int step = 1; step <= steps_; ++step) wanted += step_width(step);
    const double squeeze = std::min(1.0, kMostStepsWidth / wanted);
    for (int step = 1; step <= steps_; ++step) arrows(step, squeeze * step_width(step));
    clock_.marks.push_back(now_);
    boxes(from_.results, labels.result);
    clock_.title = note();
    legend();
    picture_.width_px = now_;
    picture_.clocks.push_back(std::move(clock_));
    return std::move(picture_);
  }

 private:
  void boxes(const std::vector<Pieces>& of_ranks, const std::string& label) {
    std::size_t most = 1;
    for (const Pieces& pieces : of_ranks) most = std::max(most, pieces.size());
    const double width = std::max(kBoxWidth * static_cast<double>(most), plot::text_width(label, 12)) + 2 * kGap;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      double x = now_ + (width - kBoxWidth * static_cast<double>(of_ranks[rank].size())) / 2;
      for (const Piece& piece : of_ranks[rank]) {
        const std::string name = from_.names.name(piece);
        clock_.boxes.push_back({static_cast<int>(rank), x, x + kBoxWidth, name, name, box_colour(piece)});
        x += kBoxWidth;
      }
    }
    clock_.labels.push_back({now_ + width / 2, label});
    now_ += width;
  }

  /// Room for the arrows that cross the middle between two ranks, on average, and for the widest label.
  double step_width(int step) const {
    double rows = 0, widest = 0;
    for (const StepMessage& message : from_.messages) {
      if (message.step != step) continue;
      rows += std::abs(message.dst_rank - message.src_rank);
      widest = std::max(widest, plot::text_width(message.label, 12));
    }
    return 2 * kGap + 50 + widest + 30 * rows / (from_.num_ranks - 1);
  }

  void arrows(int step, double width) {
    for (const StepMessage& message : from_.messages) {
      if (message.step != step) continue;
      plot::Arrow& arrow = clock_.arrows.emplace_back();
      arrow = {message.src_rank, message.dst_rank, now_ + width / 8, now_ + width * 7 / 8, message.label};
      arrow.title = fmt::format("{} from rank {} to rank {}", message.label, message.src_rank, message.dst_rank);
      arrow.colour = rank_colour(message.src_rank);
      arrow.dashed = beyond_palette(message.src_rank);
    }
    clock_.labels.push_back({now_ + width / 2, fmt::format("step {}", step)});
    clock_.marks.push_back(now_);
    now_ += width;
  }

  void legend() {
    for (int rank = 0; rank < from_.num_ranks; ++rank)
      picture_.legend.push_back({box_colour(rank), fmt::format("{}: from rank {}", letter(rank), rank)});
    const auto is_sum = [](const plot::Box& box) { return box.fill.rgb == kSumColour.rgb; };
    if (std::any_of(clock_.boxes.begin(), clock_.boxes.end(), is_sum))
      picture_.legend.push_back({kSumColour, "a sum over ranks"});
  }

  bool any_text_has(const char* part) const {
    const auto has = [part](const std::string& text) { return text.find(part) != std::string::npos; };
    return std::any_of(clock_.arrows.begin(), clock_.arrows.end(),
                       [&](const plot::Arrow& arrow) { return has(arrow.label); }) ||
           std::any_of(clock_.boxes.begin(), clock_.boxes.end(), [&](const plot::Box& box) { return has(box.name); });
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
  plot::Timeline picture_;
  plot::Clock clock_;
  double now_ = 0;  ///< how far to the right the picture has been drawn
};

}  // namespace

plot::Timeline explain_diagram(const Explanation& explanation) {
  return Drawing(explanation).diagram();
}

}  // namespace lab::a9
