#include "common/comm/trace/trace_timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/comm/messages/model_time.h"
#include "common/comm/trace/critical_path.h"

namespace lab::comm {
namespace {

constexpr std::size_t kMostShapes = 5000;               // boxes, and arrows, of a clock
constexpr std::size_t kMostShapesOfSmall = 300;         // of one of many timelines on a page
constexpr std::size_t kMostLabels = 40;                 // more would hide the arrows
constexpr int kNumTurnColours = plot::kNumColours - 2;  // without almost black and yellow
constexpr double kLeastSecondsOfLost = 20e-6;           // a message's latency in model time
constexpr plot::Colour kCollectiveColour{0xE4E4E4};
constexpr plot::Colour kArrowColour{0x555555};
constexpr plot::Colour kLostColour{0xC8102E};

bool is_lost(const MessageEnds& ends) {
  const bool sent = ends.sent != nullptr && !never_completed(*ends.sent);
  const bool received = ends.received != nullptr && !never_completed(*ends.received);
  return !sent && !received;
}

/// What became of it, if not all is well.
std::string describe_fate(const MessageEnds& ends) {
  if (!is_lost(ends)) return ends.sent == nullptr || ends.received == nullptr ? ", one end only" : "";
  if (ends.received == nullptr) return ", never received";
  return ends.sent == nullptr ? ", never sent" : ", never completed";
}

std::string make_title(const MessageEnds& ends) {
  const TraceEvent& one = ends.sent != nullptr ? *ends.sent : *ends.received;
  return fmt::format("{} from rank {} to rank {}: {} B{}{}{}", one.operation, ends.src_rank(), ends.dst_rank(),
                     one.bytes, one.label.empty() ? "" : ", " + one.label, describe_fate(ends),
                     one.where.empty() ? "" : ", " + one.where);
}

std::string make_title(const TraceEvent& event) {
  return fmt::format("rank {}: {}{}{}", event.rank, event.operation, event.label.empty() ? "" : ", " + event.label,
                     event.where.empty() ? "" : ", " + event.where);
}

/// What a kind of computation means; its own name if that is unknown.
std::string find_meaning(const std::string& operation) {
  switch (operation.empty() ? ' ' : operation.front()) {
    case 'F': return "F: forward";
    case 'B': return "B: backward";
    case 'I': return "I: backward, input";
    case 'W': return "W: backward, weights";
    default: return operation;
  }
}

/// The colours of computations, and what they mean.
class Colours {
 public:
  plot::Colour of(const TraceEvent& computation) {
    turns_.insert(computation.sequence);
    const std::string& operation = computation.operation;
    const auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                   [&](const std::string& one) { return one.substr(0, 1) == operation.substr(0, 1); });
    const auto n = static_cast<std::size_t>(kind - kinds_.begin());
    if (kind == kinds_.end()) kinds_.push_back(operation);
    return plot::tint(colour_of_turn(computation.sequence), strength_of_kind(n));
  }

  std::vector<plot::LegendEntry> legend() const {
    std::vector<plot::LegendEntry> entries;
    if (turns_.size() < 2) return entries;
    for (std::size_t n = 0; n < kinds_.size(); ++n)
      entries.push_back({plot::tint(plot::kGrey, strength_of_kind(n)), find_meaning(kinds_[n])});
    if (turns_.size() > kNumTurnColours) return entries;  // colours repeat
    for (const std::uint64_t turn : turns_)
      entries.push_back({colour_of_turn(turn), fmt::format("micro-batch {}", turn)});
    return entries;
  }

 private:
  static plot::Colour colour_of_turn(std::uint64_t turn) {
    return plot::colour(static_cast<int>(turn % kNumTurnColours));
  }
  /// Of the n-th kind to appear. The first two are the easiest to tell apart.
  static double strength_of_kind(std::size_t n) {
    constexpr double kStrengths[] = {0.38, 1, 0.65, 0.2};
    return kStrengths[std::min<std::size_t>(n, 3)];
  }

  std::vector<std::string> kinds_;  // an operation of each, in order of appearance
  std::set<std::uint64_t> turns_;
};

/// Returns how many there were beyond.
template <typename Shape>
std::size_t keep_first(std::vector<Shape>& shapes, std::size_t most) {
  std::stable_sort(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) { return a.start < b.start; });
  const std::size_t left_out = shapes.size() - std::min(shapes.size(), most);
  shapes.resize(shapes.size() - left_out);
  return left_out;
}

/// One clock's boxes and arrows, and how many more there were.
struct Shapes {
  plot::Clock clock;
  std::size_t left_out = 0;
  double makespan = 0;
};

Shapes describe_shapes(std::vector<TraceEvent> events, double first, std::size_t most, Colours& colours) {
  std::stable_sort(events.begin(), events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start_seconds < b.start_seconds; });
  Shapes shapes;
  bool has_computations = false;
  for (const TraceEvent& event : events) {
    shapes.makespan = std::max(shapes.makespan, event.end_seconds - first);
    if (event.kind == TraceKind::kMessage) continue;
    const bool computes = event.kind == TraceKind::kComputation;
    has_computations = has_computations || computes;
    shapes.clock.boxes.push_back({event.rank, event.start_seconds - first, event.end_seconds - first, event.operation,
                                  make_title(event), computes ? colours.of(event) : kCollectiveColour});
  }
  const std::vector<MessageEnds> messages = message_ends(events);
  for (const MessageEnds& ends : messages) {
    const TraceEvent& one = ends.sent != nullptr ? *ends.sent : *ends.received;
    plot::Arrow& arrow = shapes.clock.arrows.emplace_back();
    arrow = {ends.src_rank(), ends.dst_rank(), ends.start_seconds() - first, ends.arrived_seconds() - first};
    arrow.end = std::max(arrow.end, arrow.start);
    arrow.title = make_title(ends);
    arrow.dashed = is_lost(ends);
    if (arrow.dashed)
      arrow.end = std::max(arrow.end, arrow.start + std::max(kLeastSecondsOfLost, shapes.makespan / 10));
    // The palette's last colour, yellow, is hard to see as a thin line.
    arrow.colour = arrow.dashed       ? kLostColour
                   : has_computations ? kArrowColour
                                      : plot::colour(arrow.src_rank % (plot::kNumColours - 1));
    if (!has_computations && messages.size() <= kMostLabels)
      arrow.label = one.label.empty() ? describe_bytes(static_cast<std::uint64_t>(one.bytes)) : one.label;
  }
  shapes.left_out = keep_first(shapes.clock.boxes, most) + keep_first(shapes.clock.arrows, most);
  return shapes;
}

/// Up to where everything is drawn.
void add_path(const std::vector<TraceEvent>& in_model, Shapes& shapes) {
  double last = shapes.left_out == 0 ? std::numeric_limits<double>::infinity() : 0;
  for (const plot::Box& box : shapes.clock.boxes) last = std::max(last, box.end);
  for (const plot::Arrow& arrow : shapes.clock.arrows) last = std::max(last, arrow.end);
  for (const PathStep& step : critical_paths(in_model)) {
    const plot::PathPart part{step.src_rank, step.dst_rank, static_cast<double>(step.begin) / 1e12,
                              static_cast<double>(step.end) / 1e12};
    if (part.end <= last) shapes.clock.path.push_back(part);
  }
  if (!shapes.clock.path.empty()) shapes.clock.title += "; the critical path is red";
}

/// When each period but the first begins.
void add_marks(const std::vector<TraceEvent>& events, double first, plot::Clock& clock) {
  std::map<std::uint32_t, double> begins;
  for (const TraceEvent& event : events) {
    const auto [begin, is_new] = begins.emplace(event.model_period, event.start_seconds - first);
    if (!is_new) begin->second = std::min(begin->second, event.start_seconds - first);
  }
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    if (begin != begins.begin()) clock.marks.push_back(begin->second);
  }
  if (!clock.marks.empty()) clock.title += "; at a dashed line the next check begins";
}

/// "4 ranks: 12 messages of 4 KiB, 60 calls of collectives, 3 computations; 5 later ones are not drawn"
std::string make_title(const std::vector<TraceEvent>& events, std::size_t num_ranks, const Shapes& shapes,
                       bool is_cut) {
  std::vector<std::string> counts;
  const std::vector<MessageEnds> messages = message_ends(events);
  const auto count = [&](TraceKind kind) {
    return std::count_if(events.begin(), events.end(), [&](const TraceEvent& event) { return event.kind == kind; });
  };
  if (!messages.empty()) {
    std::set<std::int64_t> sizes;
    for (const MessageEnds& ends : messages) sizes.insert((ends.sent != nullptr ? ends.sent : ends.received)->bytes);
    counts.push_back(counted(messages.size(), "message"));
    if (sizes.size() == 1) counts.back() += " of " + describe_bytes(static_cast<std::uint64_t>(*sizes.begin()));
  }
  if (const auto number = count(TraceKind::kCollective))
    counts.push_back(counted(number, "call of a collective", "calls of collectives"));
  if (const auto number = count(TraceKind::kComputation)) counts.push_back(counted(number, "computation"));
  std::string title = counted(num_ranks, "rank") + ": ";
  if (counts.empty()) return title + "no message, and no computation that takes time";
  title += fmt::format("{}", fmt::join(counts, ", "));
  if (is_cut) {
    title += "; later ones are not drawn";
  } else if (shapes.left_out > 0) {
    title += fmt::format("; {} later ones are not drawn", shapes.left_out);
  }
  const auto num_lost = std::count_if(shapes.clock.arrows.begin(), shapes.clock.arrows.end(),
                                      [](const plot::Arrow& arrow) { return arrow.dashed; });
  if (num_lost > 0) title += fmt::format("; {} of them, dashed, waited for in vain", num_lost);
  return title;
}

std::string makespan_text(const Shapes& shapes) {
  return shapes.makespan > 0 ? ": makespan " + plot::time_text(shapes.makespan) : "";
}

}  // namespace

plot::Timeline trace_timeline(const std::vector<TraceEvent>& events) {
  int num_ranks = 0;
  double first = std::numeric_limits<double>::infinity();
  for (const TraceEvent& event : events) {
    num_ranks = std::max({num_ranks, event.rank + 1, event.kind == TraceKind::kMessage ? event.peer + 1 : 0});
    first = std::min(first, event.start_seconds);
  }
  plot::Timeline timeline;
  timeline.num_ranks = num_ranks;
  Colours colours;
  Shapes shapes = describe_shapes(events, first, kMostShapes, colours);
  shapes.clock.title = "time since the first event" + makespan_text(shapes);
  add_marks(events, first, shapes.clock);
  timeline.title = make_title(events, static_cast<std::size_t>(num_ranks), shapes, false);
  timeline.clocks.push_back(std::move(shapes.clock));
  const bool has_model_time =
      std::any_of(events.begin(), events.end(), [](const TraceEvent& event) { return event.model_end > 0; });
  if (has_model_time) {
    const std::vector<TraceEvent> in_model = in_model_time(events);
    shapes = describe_shapes(in_model, 0, kMostShapes, colours);
    shapes.clock.title = fmt::format("model time ({}){}", rates_text(ModelRates()), makespan_text(shapes));
    add_path(in_model, shapes);
    add_marks(in_model, 0, shapes.clock);
    timeline.clocks.push_back(std::move(shapes.clock));
  }
  timeline.legend = colours.legend();
  return timeline;
}

plot::Timeline trace_timeline(const std::vector<RankTrace>& by_rank, bool is_whole) {
  std::vector<TraceEvent> events;
  bool is_cut = false;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    is_cut = is_cut || by_rank[rank].is_cut;
    events.insert(events.end(), by_rank[rank].events.begin(), by_rank[rank].events.end());
    const std::vector<TraceEvent> computed = computations(by_rank[rank], static_cast<int>(rank));
    events.insert(events.end(), computed.begin(), computed.end());
  }
  for (TraceEvent& event : events) event.model_period = 0;
  const std::vector<TraceEvent> in_model = in_model_time(std::move(events));
  Colours colours;
  Shapes shapes = describe_shapes(in_model, 0, kMostShapesOfSmall, colours);
  shapes.clock.title = "model time" + makespan_text(shapes);
  if (is_whole && !is_cut && shapes.left_out == 0) add_path(in_model, shapes);
  plot::Timeline timeline;
  timeline.num_ranks = static_cast<int>(by_rank.size());
  timeline.title = make_title(in_model, by_rank.size(), shapes, is_cut);
  timeline.clocks.push_back(std::move(shapes.clock));
  return timeline;
}

}  // namespace lab::comm
