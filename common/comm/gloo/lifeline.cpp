#include "common/comm/gloo/lifeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/common/error.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "common/comm/gloo/slots.h"

namespace lab::comm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{20};
constexpr double kPulseSeconds = 0.25;
/// How long a rank that lost a connection waits to hear why: the launcher knows the signal, a failing peer sends its
/// reason.
constexpr milliseconds kReasonPatience{500};
/// Seconds without a tick after which this process must have been suspended.
constexpr double kSuspension = 1;

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// What a rank sends to every other before it ends. Both magics are present only once the whole record is.
struct Lifeline::FailureRecord {
  std::uint32_t head;
  std::int32_t farewell;  ///< 1: an orderly end; the rest is empty
  std::int32_t origin_rank;
  std::int32_t exit_code;
  std::int32_t involved_rank;
  char message[484];
  std::uint64_t tail;
  static constexpr std::uint32_t kHead = 0x52454331;
  static constexpr std::uint64_t kTail = 0x5245433154414931ULL;
};

Lifeline::Lifeline(gloo::rendezvous::Context& context, double timeout_seconds, EventFile* events, Connector& connector)
    : context_(context), timeout_seconds_(timeout_seconds), events_(events), connector_(connector) {
  static_assert(sizeof(FailureRecord) == 512, "a record is 512 bytes");
  const auto size = static_cast<std::size_t>(context_.size);
  said_farewell_.assign(size, false);
  said_farewell_[static_cast<std::size_t>(context_.rank)] = true;
  records_.assign(size * sizeof(FailureRecord), 0);
  outgoing_.assign(sizeof(FailureRecord), 0);
  probe_memory_.assign(size, 0);
  record_buffer_ = context_.createUnboundBuffer(records_.data(), records_.size());
  for (int peer = 0; peer < context_.size; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    probes_.push_back(context_.createUnboundBuffer(&probe_memory_[index], 1));
    outgoing_buffers_.push_back(context_.createUnboundBuffer(outgoing_.data(), outgoing_.size()));
    if (peer == context_.rank) continue;
    // A peer writes here only when a rank has failed; the probe shows when its connection closes.
    record_buffer_->recv(peer, kSentinelSlot, index * sizeof(FailureRecord), sizeof(FailureRecord));
    probes_[index]->recv(peer, kProbeSlot, 0, 1);
  }
  listener_ = std::thread([this] { listen(); });
  timekeeper_ = std::thread([this] { keep_time(); });
}

void Lifeline::wait(Wait& wait, const Message& message) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_) throw_failure();
    current_ = CurrentWait{&wait, &message, monotonic_seconds() + timeout_seconds_, 0};
  }
  const Wait::End end = wait.wait();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool in_time = !asking_;
    changed_.wait(lock, [this] { return !asking_; });
    current_.reset();
    if (end == Wait::End::kComplete && in_time) return;
    if (failure_) throw_failure();
  }
  if (end == Wait::End::kConnectionLost) connection_lost();
  throw CommError("a wait ended without a reason");
}

void Lifeline::set_task(const std::string& task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  task_ = task;
}

void Lifeline::set_collective(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  collective_ = name;
}

void Lifeline::check() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_) throw_failure();
}

void Lifeline::connection_lost() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, 2 * kReasonPatience, [this] { return failure_.has_value(); });
  if (!failure_) declare({-1, ExitCode::kCommunication, "the connection to a peer was lost", -1});
  throw_failure();
  std::abort();  // throw_failure() never returns here
}

void Lifeline::close() {
  FailureRecord farewell{};
  farewell.farewell = 1;
  farewell_sent_ = true;
  send_records(farewell);
  {
    std::unique_lock<std::mutex> lock(mutex_);
    closing_deadline_ = monotonic_seconds() + timeout_seconds_;
    const auto all_left = [this] {
      for (const bool said : said_farewell_) {
        if (!said) return false;
      }
      return true;
    };
    changed_.wait(lock, [&] { return failure_ || all_left(); });
    if (!all_left()) throw_failure();
    stopping_ = true;
  }
  changed_.notify_all();
  listener_.join();
  timekeeper_.join();
}

void Lifeline::fail(ExitCode exit_code, const std::string& message, int involved_rank) {
  FailureRecord record{};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // A rank that fails because another did passes on the other's reason: all ranks name the same culprit.
    if (!failure_) failure_ = Failure{-1, exit_code, message, involved_rank};
    record.origin_rank = failure_->origin_rank >= 0 ? failure_->origin_rank : context_.rank;
    record.exit_code = static_cast<std::int32_t>(failure_->exit_code);
    record.involved_rank = failure_->involved_rank;
    const std::size_t length = std::min(failure_->message.size(), sizeof(record.message) - 1);
    std::memcpy(record.message, failure_->message.data(), length);
  }
  // After the farewell the peers expect nothing more from this rank.
  if (!farewell_sent_) send_records(record);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  timekeeper_.join();
  listener_.detach();  // it may be inside Gloo; the process ends now
}

void Lifeline::send_records(const FailureRecord& record) {
  FailureRecord complete = record;
  complete.head = FailureRecord::kHead;
  complete.tail = FailureRecord::kTail;
  std::memcpy(outgoing_.data(), &complete, sizeof(complete));
  std::vector<bool> sent(outgoing_buffers_.size(), false);
  // All records leave before the first is waited for, so a peer that does not answer keeps nobody else waiting.
  for (int peer = 0; peer < context_.size; ++peer) {
    if (peer == context_.rank) continue;
    const auto index = static_cast<std::size_t>(peer);
    try {
      outgoing_buffers_[index]->send(peer, kSentinelSlot, 0, sizeof(FailureRecord));
      sent[index] = true;
    } catch (const gloo::Exception&) {  // that peer is gone
    }
  }
  // The process may end only once each peer has been told why, or does not answer in time.
  for (std::size_t peer = 0; peer < sent.size(); ++peer) {
    if (sent[peer]) wait_a_little(*outgoing_buffers_[peer]);
  }
}

void Lifeline::wait_a_little(gloo::transport::UnboundBuffer& buffer) {
  // Every peer has its receive posted from the start, so this ends quickly unless the peer is stopped.
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_words_ = LastWords{&buffer, monotonic_seconds() + std::chrono::duration<double>(kReasonPatience).count()};
  }
  try {
    buffer.waitSend(nullptr, kForGloo);
  } catch (const gloo::Exception&) {  // that peer is gone
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  last_words_.reset();
}

void Lifeline::listen() {
  // Each peer sends at most one record: this thread listens until all have said farewell or are lost.
  for (int remaining = context_.size - 1; remaining > 0; --remaining) {
    try {
      if (!record_buffer_->waitRecv(nullptr, kForGloo)) return;
      read_records();
    } catch (const gloo::Exception&) {
      const int lost = find_lost_peer();
      // Several may be gone by now. One that ended because of another left a record that names the culprit.
      read_records();
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (failure_) return;
      }
      std::string reason;
      for (milliseconds waited{0}; reason.empty() && lost >= 0 && is_watched(lost) && waited < kReasonPatience;
           waited += milliseconds(2)) {
        reason = events_->exit_reason(lost);
        if (reason.empty()) std::this_thread::sleep_for(milliseconds(2));
      }
      if (reason.empty()) reason = "its connection closed unexpectedly";
      const std::lock_guard<std::mutex> lock(mutex_);
      declare({lost, ExitCode::kCommunication, reason, -1});
      return;
    }
  }
}

void Lifeline::read_records() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int peer = 0; peer < context_.size; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    FailureRecord record;
    std::memcpy(&record, records_.data() + index * sizeof(FailureRecord), sizeof(FailureRecord));
    if (record.head != FailureRecord::kHead || record.tail != FailureRecord::kTail || said_farewell_[index]) continue;
    if (record.farewell == 1) {
      said_farewell_[index] = true;
      if (closing_deadline_) closing_deadline_ = monotonic_seconds() + timeout_seconds_;
      changed_.notify_all();
    } else {
      record.message[sizeof(record.message) - 1] = '\0';
      declare({record.origin_rank, static_cast<ExitCode>(record.exit_code), record.message, record.involved_rank});
    }
  }
}

int Lifeline::find_lost_peer() {
  // Nobody ever sends to a probe: its receive fails at once where the connection is closed, and times out where it is
  // not.
  for (int peer = 0; peer < context_.size; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    if (peer == context_.rank || said_farewell_[index]) continue;
    probes_[index]->abortWaitRecv();
    try {
      probes_[index]->waitRecv(nullptr, milliseconds(1));
    } catch (const gloo::Exception&) {
      return peer;
    }
  }
  return -1;
}

void Lifeline::keep_time() {
  std::unique_lock<std::mutex> lock(mutex_);
  double last = monotonic_seconds();
  // Each tick looks whether the rank has waited for longer than its time-out.
  while (!changed_.wait_for(lock, kTick, [this] { return stopping_; })) {
    const double now = monotonic_seconds();
    tick(lock, now - last);
    last = now;
  }
}

void Lifeline::tick(std::unique_lock<std::mutex>& lock, double seconds_since_last) {
  // Time during which the process was stopped, or the machine slept, does not count as waiting.
  if (seconds_since_last > kSuspension) {
    if (current_) current_->deadline += seconds_since_last;
    if (closing_deadline_) *closing_deadline_ += seconds_since_last;
  }
  if (last_words_ && monotonic_seconds() > last_words_->deadline) last_words_->buffer->abortWaitSend();
  if (failure_) return;
  if (!all_are_watched() && monotonic_seconds() >= next_pulse_) {
    connector_.pulse(own_pulse());
    next_pulse_ = monotonic_seconds() + kPulseSeconds;
  }
  if (events_ != nullptr) {
    if (const auto verdict = events_->verdict()) {
      declare({-1, verdict->exit_code, verdict->message, -1});
      return;
    }
  }
  if (closing_deadline_ && monotonic_seconds() > *closing_deadline_) {
    const std::vector<int> unfinished = unfinished_ranks();
    if (unfinished.empty()) return;
    const std::string what = fmt::format("rank {} has returned and waits for {} {} to return", context_.rank,
                                         unfinished.size() == 1 ? "rank" : "ranks", fmt::join(unfinished, ", "));
    const std::string message = timeout_message(lock, what, unfinished.front());
    if (!unfinished_ranks().empty()) declare({-1, ExitCode::kCommunication, message, -1});
    return;
  }
  if (!current_) return;
  const auto what = [this] {
    return fmt::format("rank {} {}", context_.rank, describe_wait(current_->message->posted_op(0)));
  };
  // A peer's farewell comes after its last message. What has not arrived after two more ticks never will.
  const int peer = current_->message->peer;
  if (said_farewell_[static_cast<std::size_t>(peer)] && !current_->wait->may_have_arrived() &&
      ++current_->ticks_after_farewell > 2) {
    declare({-1, ExitCode::kDeadlock, fmt::format("deadlock: {}, but rank {} has already returned", what(), peer), -1});
  } else if (monotonic_seconds() > current_->deadline) {
    declare({-1, ExitCode::kCommunication, timeout_message(lock, what(), context_.rank), -1});
  }
}

bool Lifeline::all_are_watched() const {
  return events_ != nullptr && events_->writers() == EventFile::Writers::kAllRanks;
}

bool Lifeline::is_watched(int rank) const {
  return all_are_watched() || (events_ != nullptr && events_->read(rank, nullptr).activity != RankActivity::kStarting);
}

Pulse Lifeline::own_pulse() const {
  const std::vector<int> unfinished = unfinished_ranks();
  if (closing_deadline_ && !unfinished.empty()) return {unfinished.front(), "has returned"};
  if (!collective_.empty()) return {context_.rank, "is inside " + collective_};
  if (!current_) return {context_.rank, task_.empty() ? "computes" : "computes in " + task_};
  const PostedOp op = current_->message->posted_op(0);
  return {op.peer, describe_wait(op)};
}

std::string Lifeline::timeout_message(std::unique_lock<std::mutex>& lock, const std::string& what, int first_waiting) {
  std::string message = fmt::format("timed out after {:g} s: {}", timeout_seconds_, what);
  if (all_are_watched()) {
    message += describe_late_rank(*events_, first_waiting, context_.rank);
  } else {
    const Pulse pulse = own_pulse();
    asking_ = true;
    lock.unlock();
    const std::optional<std::string> answer = connector_.late_rank(pulse);
    lock.lock();
    if (answer) message += *answer;
    // Without rank 0: what it has said before it ended is under way.
    if (!answer) changed_.wait_for(lock, 2 * kReasonPatience, [this] { return failure_.has_value(); });
    asking_ = false;
    changed_.notify_all();
  }
  if (events_ == nullptr) return message;
  events_->set_rank_lines(describe_ranks(*events_));
  events_->set_verdict({ExitCode::kCommunication, message});
  return events_->verdict().value_or(Verdict{ExitCode::kCommunication, message}).message;
}

CommError Lifeline::timed_out(const std::string& what) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::string message = timeout_message(lock, what, context_.rank);
  if (failure_) throw_failure();
  return CommError(message);
}

std::vector<int> Lifeline::unfinished_ranks() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < context_.size; ++rank) {
    if (!said_farewell_[static_cast<std::size_t>(rank)]) ranks.push_back(rank);
  }
  return ranks;
}

void Lifeline::declare(Failure failure) {
  if (!failure_) failure_ = std::move(failure);
  if (current_) current_->wait->abort();
  changed_.notify_all();
}

void Lifeline::throw_failure() const {
  if (failure_->origin_rank < 0 || failure_->origin_rank == context_.rank)
    raise(failure_->exit_code, failure_->message);
  if (failure_->involved_rank == context_.rank) raise(failure_->exit_code, failure_->message);
  throw CommError(fmt::format("rank {} failed: {}", failure_->origin_rank, failure_->message));
}

}  // namespace lab::comm
