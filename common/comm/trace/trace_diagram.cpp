#include "common/comm/trace/trace_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/comm/trace/trace.h"

// Horizontal lengths are in a unit of time, vertical ones in rows: rank r's line is at r.
namespace lab::comm {
namespace {

constexpr std::size_t kMostDrawn = 20000;               ///< boxes and arrows: takes gnuplot two seconds
constexpr std::size_t kMostOnRow = 150;                 ///< arrows, on average: more blur into one grey
constexpr std::size_t kMostArrowHeads = 400;            ///< with more, only the slant shows the direction
constexpr std::size_t kMostLabels = 40;                 ///< more would hide the arrows
constexpr int kNumTurnColours = plot::kNumColours - 2;  ///< without near-black and yellow
constexpr double kHalfBox = 0.32;
constexpr plot::Colour kCollectiveColour{0xE4E4E4};
constexpr plot::Colour kArrowColour{0x555555};
constexpr plot::Colour kPathColour{0xC8102E};
constexpr double kPathBelow = 0.41, kHalfPath = 0.03;

struct TracedMessage {
  int src_rank = 0;
  int dst_rank = 0;
  double start_seconds = 0;  ///< when both ends had posted it
  double end_seconds = 0;    ///< when it was at the receiver, which may have waited for it later
  bool received = false;
  std::int64_t bytes = 0;
  std::string label;
};

/// Each message from its two ends, or from the only one in the trace.
std::vector<TracedMessage> matched(const std::vector<TraceEvent>& events) {
  std::vector<TracedMessage> messages;
  for (const MessageEnds& ends : message_ends(events)) {
    const TraceEvent& last = ends.received != nullptr ? *ends.received : *ends.sent;
    const TraceEvent& other = ends.sent != nullptr ? *ends.sent : last;
    messages.push_back({ends.src_rank(), ends.dst_rank(), ends.start_seconds(), ends.arrived_seconds(),
                        ends.received != nullptr, last.bytes, other.label.empty() ? last.label : other.label});
  }
  return messages;
}

struct TimeUnit {
  double seconds;
  const char* name;
};

TimeUnit unit_for(double seconds) {
  if (seconds >= 1) return {1, "s"};
  if (seconds >= 1e-3) return {1e-3, "ms"};
  return {1e-6, "µs"};
}

/// Computations whose operation names begin with the same letter.
struct Kind {
  std::string common;   ///< common prefix of their operation names
  bool varied = false;  ///< the names differ after the prefix
};

/// Of the n-th kind to appear. The first two are the easiest to tell apart.
double strength_of_kind(std::size_t n) {
  constexpr double kStrengths[] = {0.38, 1, 0.65, 0.2};
  return kStrengths[std::min<std::size_t>(n, 3)];
}

plot::Colour turn_colour(std::uint64_t turn) {
  return plot::colour(static_cast<int>(turn % kNumTurnColours));
}

std::string size_text(std::int64_t bytes) {
  return describe_bytes(static_cast<std::uint64_t>(bytes));
}

/// What a kind of computation means; "" if unknown.
std::string meaning_of(const std::string& operation) {
  switch (operation.empty() ? ' ' : operation.front()) {
    case 'F': return "F: forward";
    case 'B': return "B: backward";
    case 'I': return "I: backward, input";
    case 'W': return "W: backward, weights";
    default: return "";
  }
}

class Drawing {
 public:
  Drawing(const std::vector<TraceEvent>& events, const TraceView& view) : view_(view), messages_(matched(events)) {
    if (!events.empty()) first_seconds_ = events.front().start_seconds;
    for (const TraceEvent& event : events) {
      num_ranks_ = std::max({num_ranks_, event.rank + 1, event.peer + 1});
      first_seconds_ = std::min(first_seconds_, event.start_seconds);
      if (event.kind != TraceKind::kMessage) boxes_.push_back(event);
      if (event.kind == TraceKind::kComputation) has_computations_ = true;
    }
    first_seconds_ = view.origin_seconds.value_or(first_seconds_);
    // Of boxes that begin together the longest is drawn first: the others go on top.
    std::stable_sort(boxes_.begin(), boxes_.end(), [](const TraceEvent& a, const TraceEvent& b) {
      return std::pair(a.start_seconds, -a.end_seconds) < std::pair(b.start_seconds, -b.end_seconds);
    });
    std::stable_sort(messages_.begin(), messages_.end(),
                     [](const TracedMessage& a, const TracedMessage& b) { return a.start_seconds < b.start_seconds; });
  }

  plot::Diagram diagram() {
    const std::size_t num_traced = num_drawn();
    const double makespan_seconds = last_seconds() - first_seconds_;
    leave_out_the_last();
    unit_ = unit_for(last_seconds() - first_seconds_);

    picture_.title = title(num_traced - num_drawn());
    const TimeUnit unit = unit_for(makespan_seconds);
    if (num_traced > 0)
      picture_.title += fmt::format("; makespan {:.3g} {}", makespan_seconds / unit.seconds, unit.name);
    for (const TraceEvent& box : boxes_) box.kind == TraceKind::kComputation ? computation(box) : collective(box);
    for (const TracedMessage& message : messages_) arrow(message);
    for (const PathStep& step : view_.path) path(step);
    if (num_traced == 0)
      picture_.texts.push_back({0.5, 0, "nothing was traced", 14, plot::Align::kCentre, plot::kBlack, true});
    axes(x(last_seconds()));
    if (has_computations_) legend();
    size();
    return std::move(picture_);
  }

 private:
  double x(double seconds) const { return (seconds - first_seconds_) / unit_.seconds; }

  double last_seconds() const {
    double last = first_seconds_;
    for (const TraceEvent& box : boxes_) last = std::max(last, box.end_seconds);
    for (const TracedMessage& message : messages_) last = std::max(last, message.end_seconds);
    return last;
  }

  std::size_t num_drawn() const { return boxes_.size() + messages_.size(); }

  void leave_out_the_last() {
    std::size_t most = kMostDrawn;
    if (!has_computations_) most = std::min(most, kMostOnRow * static_cast<std::size_t>(num_ranks_));
    while (num_drawn() > most) {
      const bool box_is_last =
          messages_.empty() || (!boxes_.empty() && boxes_.back().start_seconds > messages_.back().start_seconds);
      box_is_last ? boxes_.pop_back() : messages_.pop_back();
    }
  }

  /// Whether all messages have one size: the title then gives it.
  bool one_size() const {
    return std::all_of(messages_.begin(), messages_.end(),
                       [&](const TracedMessage& message) { return message.bytes == messages_.front().bytes; });
  }

  std::string title(std::size_t num_left_out) const {
    const auto num_computations = static_cast<std::size_t>(std::count_if(
        boxes_.begin(), boxes_.end(), [](const TraceEvent& box) { return box.kind == TraceKind::kComputation; }));
    std::string text = "Trace of " + counted(num_ranks_, "rank");
    std::string before = num_left_out > 0 ? ", its beginning: " : ": ";
    const auto add = [&](std::size_t count, const std::string& one, const std::string& many) {
      if (count == 0) return;
      text += before + counted(count, one, many);
      before = ", ";
    };
    add(num_computations, "computation", "computations");
    add(messages_.size(), "message", "messages");
    if (!messages_.empty() && one_size()) text += " of " + size_text(messages_.front().bytes);
    add(boxes_.size() - num_computations, "call of a collective", "calls of collectives");
    if (num_left_out > 0) text += fmt::format("; {} more left out", num_left_out);
    return text;
  }

  std::size_t kind_of(const TraceEvent& computation) {
    const std::string& operation = computation.operation;
    const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
      return kind.common.substr(0, 1) == operation.substr(0, 1);
    });
    const auto n = static_cast<std::size_t>(found - kinds_.begin());
    if (found == kinds_.end()) {
      kinds_.push_back({operation});
    } else if (found->common != operation) {
      const auto differ =
          std::mismatch(found->common.begin(), found->common.end(), operation.begin(), operation.end()).first;
      found->common.erase(differ, found->common.end());
      found->varied = true;
    }
    return n;
  }

  void computation(const TraceEvent& event) {
    turns_.insert(event.sequence);
    computing_until_[event.rank] = event.end_seconds;
    const plot::Colour fill = plot::tint(turn_colour(event.sequence), strength_of_kind(kind_of(event)));
    picture_.boxes.push_back({x(event.start_seconds), event.rank - kHalfBox, x(event.end_seconds),
                              event.rank + kHalfBox, fill, event.operation});
  }

  void collective(const TraceEvent& event) {
    const auto computing = computing_until_.find(event.rank);
    const bool inside = computing != computing_until_.end() && event.start_seconds < computing->second;
    const double top = inside ? 0.14 : -kHalfBox;  // below the computation's text
    std::string text = event.operation;
    if (!inside && row_px() > 50) std::replace(text.begin(), text.end(), '_', '\n');  // fits narrower boxes
    picture_.boxes.push_back({x(event.start_seconds), event.rank + top, x(event.end_seconds), event.rank + kHalfBox,
                              kCollectiveColour, text});
  }

  void arrow(const TracedMessage& message) {
    // From edge to edge of the computations, or from line to line.
    const double down = message.dst_rank > message.src_rank ? 1 : -1;
    const double off_line = has_computations_ ? down * kHalfBox : 0;
    plot::Arrow arrow;
    arrow.x0 = x(message.start_seconds);
    arrow.y0 = message.src_rank + off_line;
    arrow.x1 = x(message.end_seconds);
    arrow.y1 = message.dst_rank - off_line;
    // The last colour, yellow, is hard to see as a thin line.
    arrow.colour = has_computations_ ? kArrowColour : plot::colour(message.src_rank % (plot::kNumColours - 1));
    arrow.head = messages_.size() <= kMostArrowHeads;
    const bool has_room = !has_computations_ && messages_.size() <= kMostLabels;
    if (has_room) arrow.label = message.label.empty() ? size_text(message.bytes) : message.label;
    picture_.arrows.push_back(arrow);
  }

  void path(const PathStep& step) {
    const double begin = x(static_cast<double>(step.begin) * 1e-12), end = x(static_cast<double>(step.end) * 1e-12);
    if (end > x(last_seconds())) return;                      // beyond what is drawn
    const double below = has_computations_ ? kPathBelow : 0;  // else on the line, as the arrows
    const double src = step.src_rank + below, dst = step.dst_rank + below;
    if (step.src_rank == step.dst_rank) {
      picture_.boxes.push_back({begin, src - kHalfPath, end, src + kHalfPath, kPathColour});
      return;
    }
    plot::Arrow arrow;
    arrow.x0 = begin;
    arrow.y0 = src;
    arrow.x1 = end;
    arrow.y1 = dst;
    arrow.colour = kPathColour;
    picture_.arrows.push_back(arrow);
  }

  void axes(double last_x) {
    const double end = last_x > 0 ? last_x : 1;  // in simulated time everything may happen at once
    picture_.x.title = fmt::format("{}, {}", view_.axis, unit_.name);
    picture_.x.ticks = plot::ticks({0, end}, false, plot::Unit::kPlain);
    picture_.x.range = plot::Range{-0.01 * end, 1.02 * end};
    picture_.y_down = true;
    picture_.y.range = plot::Range{-0.6, num_ranks_ - 0.4};
    const int ranks_per_tick = static_cast<int>(std::ceil(16 / row_px()));
    for (int rank = 0; rank < num_ranks_; ++rank) {
      if (rank % ranks_per_tick == 0) picture_.y.ticks.push_back({1.0 * rank, fmt::format("rank {}", rank)});
      picture_.horizontal_guides.push_back({1.0 * rank});
    }
  }

  void legend() {
    for (std::size_t n = 0; n < kinds_.size(); ++n) {
      const std::string meaning = meaning_of(kinds_[n].common);
      const std::string text = !meaning.empty() ? meaning : kinds_[n].common + (kinds_[n].varied ? "…" : "");
      picture_.legend.push_back({plot::tint(plot::kGrey, strength_of_kind(n)), text});
    }
    if (turns_.size() > kNumTurnColours) return;  // then colours repeat
    for (const std::uint64_t turn : turns_)
      picture_.legend.push_back({turn_colour(turn), fmt::format("micro-batch {}", turn)});
  }

  double row_px() const {
    const double wanted = has_computations_ ? 60 : 90;
    return std::min({wanted, std::max(900.0 / num_ranks_, 10.0), 9500.0 / num_ranks_});
  }

  void size() {
    std::map<int, int> num_on_rank;
    for (const TraceEvent& box : boxes_) num_on_rank[box.rank] += box.kind == TraceKind::kCollective ? 2 : 1;
    for (const TracedMessage& message : messages_) ++num_on_rank[message.dst_rank];
    int most = 0;
    for (const auto& [rank, num] : num_on_rank) most = std::max(most, num);
    picture_.width_px = std::clamp(200 + 32 * most, 960, 2400);
    picture_.height_px = static_cast<int>(140 + num_ranks_ * row_px());
  }

  const TraceView& view_;
  std::vector<TraceEvent> boxes_;  ///< ordered by start, like the messages
  std::vector<TracedMessage> messages_;
  int num_ranks_ = 1;
  double first_seconds_ = 0;
  bool has_computations_ = false;
  TimeUnit unit_{1, "s"};
  plot::Diagram picture_;
  std::map<int, double> computing_until_;  ///< of each rank, so far
  std::vector<Kind> kinds_;                ///< in order of appearance
  std::set<std::uint64_t> turns_;
};

}  // namespace

plot::Diagram trace_diagram(const std::vector<TraceEvent>& events, const TraceView& view) {
  return Drawing(events, view).diagram();
}

}  // namespace lab::comm
