#include "common/pipeline/timeline_diagram.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"

namespace lab::pipeline {
namespace {

constexpr plot::Colour kForwardMessage{0x222222}, kBackwardMessage{0xC00000};
constexpr int kNumMicroBatchColours = plot::kNumColours - 2;  // without almost black and yellow

plot::Colour choose_fill(plot::Colour micro_batch, Operation operation) {
  const double strength = operation == Operation::kForward ? 0.38 : operation == Operation::kBackwardWeight ? 0.65 : 1;
  return plot::tint(micro_batch, strength);
}

std::string make_title(const Schedule& schedule, const Timeline& timeline) {
  return fmt::format("{}: {}, {}{}, makespan {}, bubble {:.1f} %", schedule.kind, counted(schedule.num_ranks, "rank"),
                     counted(schedule.num_micro_batches, "micro-batch", "micro-batches"),
                     schedule.num_chunks > 1 ? fmt::format(", {} chunks a rank", schedule.num_chunks) : "",
                     plot::time_text(timeline.makespan_seconds), 100 * timeline.bubble_fraction());
}

}  // namespace

plot::Timeline timeline_diagram(const Schedule& schedule, const Timeline& timeline, bool messages) {
  plot::Timeline picture;
  picture.title = make_title(schedule, timeline);
  picture.num_ranks = schedule.num_ranks;
  picture.grey_rows = true;
  plot::Clock& clock = picture.clocks.emplace_back();
  bool is_split = false;
  for (const Span& span : timeline.computations) {
    const std::string name = short_name(schedule, span.action);
    const plot::Colour colour = plot::colour(span.action.micro_batch % kNumMicroBatchColours);
    is_split = is_split || span.action.operation == Operation::kBackwardInput;
    clock.boxes.push_back({span.rank, span.start_seconds, span.end_seconds, name,
                           fmt::format("rank {}: {}", span.rank, name), choose_fill(colour, span.action.operation)});
  }
  const auto explain = [&](Operation operation, const char* text) {
    picture.legend.push_back({choose_fill(plot::colour(0), operation), text});
  };
  explain(Operation::kForward, "F: forward (a colour per micro-batch)");
  explain(Operation::kBackward, is_split ? "I: backward, input" : "B: backward");
  if (is_split) explain(Operation::kBackwardWeight, "W: backward, weights");
  picture.legend.push_back({plot::kLightGrey, "idle"});
  if (!messages) return picture;
  for (const Span& span : timeline.messages) {
    const bool is_forward = span.action.operation == Operation::kSendForward;
    plot::Arrow& arrow = clock.arrows.emplace_back();
    arrow = {span.rank, peer_rank(schedule, span.rank, span.action), span.start_seconds, span.end_seconds};
    arrow.title = fmt::format("{} of micro-batch {} from rank {} to rank {}", is_forward ? "output" : "gradient",
                              span.action.micro_batch, arrow.src_rank, arrow.dst_rank);
    arrow.colour = is_forward ? kForwardMessage : kBackwardMessage;
  }
  picture.legend.push_back({kForwardMessage, "send_forward to recv_forward"});
  picture.legend.push_back({kBackwardMessage, "send_backward to recv_backward"});
  return picture;
}

}  // namespace lab::pipeline
