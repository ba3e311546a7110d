#include "common/comm/relay/rank_tracer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/text.h"

namespace lab::comm {
namespace {

constexpr std::size_t kMostNameBytes = 60;

std::string shown(std::string_view name) {
  return one_line(safe_text(name.substr(0, kMostNameBytes), kMostNameBytes));
}

}  // namespace

bool RankTracer::has_room() {
  if (num_kept_ == kMostEvents) trace_.is_cut = true;
  return !trace_.is_cut && ++num_kept_ > 0;
}

std::unique_ptr<TraceEvent> RankTracer::post(const Message& message, std::int64_t model_start) {
  if (!has_room()) return nullptr;
  auto event = std::make_unique<TraceEvent>(make_event(message));
  event->sequence = sequences_[message]++;
  event->bytes = static_cast<std::int64_t>(message.num_bytes());
  event->model_start = model_start;
  event->model_posted = message.model_posted;
  return event;
}

TraceEvent RankTracer::make_event(const Message& message) const {
  TraceEvent event;
  static_cast<Channel&>(event) = message;
  event.rank = rank_;
  const PostedOp op = message.posted_op(0);
  event.operation = shown(op.operation);
  if (message.where.line > 0) event.where = shown(op.where);
  return event;
}

void RankTracer::end_message(Pending& pending, std::int64_t arrived, std::int64_t model_end, std::int64_t waited) {
  const std::unique_ptr<TraceEvent> event = std::move(pending.event);
  if (!event) return;
  event->model_arrived = arrived;
  event->model_end = model_end;
  event->model_waited = waited;
  trace_.events.push_back(std::move(*event));
}

void RankTracer::end_collective(const Message& message, const LedgerEntry& cost, const CollectiveSpan& span) {
  if (!has_room()) return;
  TraceEvent event = make_event(message);
  event.kind = TraceKind::kCollective;
  event.peer = -1;
  event.bytes = static_cast<std::int64_t>(std::max(cost.bytes_sent, cost.bytes_received));
  event.model_start = span.model_start;
  event.model_posted = span.began;
  event.model_end = span.model_end;
  event.model_waited = span.waited;
  trace_.events.push_back(std::move(event));
}

RankTrace RankTracer::trace(std::int64_t length_ps) const {
  RankTrace trace = trace_;
  trace.length_ps = length_ps;
  return trace;
}

}  // namespace lab::comm
