#include "common/pipeline/schedule.h"

#include <fmt/format.h>

#include <array>

namespace lab::pipeline {
namespace {

bool travels_forward(Operation message) {
  return message == Operation::kSendForward || message == Operation::kRecvForward;
}

const char* get_name(Operation operation) {
  static constexpr std::array<const char*, kNumOperations> kNames = {
      "forward",      "backward",     "backward_input", "backward_weight",
      "recv_forward", "send_forward", "recv_backward",  "send_backward"};
  return kNames[static_cast<std::size_t>(operation)];
}

/// a, b, ..., z, aa, ab, ...
std::string letters(int chunk) {
  std::string text(1, static_cast<char>('a' + chunk % 26));
  return chunk < 26 ? text : letters(chunk / 26 - 1) + text;
}

}  // namespace

bool is_message(Operation operation) {
  return operation >= Operation::kRecvForward;
}

bool is_send(Operation operation) {
  return operation == Operation::kSendForward || operation == Operation::kSendBackward;
}

bool operator==(const Action& left, const Action& right) {
  return left.operation == right.operation && left.micro_batch == right.micro_batch && left.chunk == right.chunk &&
         left.extent == right.extent;
}

int peer_stage(const Schedule& schedule, Operation operation, int stage) {
  if (!is_message(operation)) return -1;
  const bool to_next = operation == Operation::kSendForward || operation == Operation::kRecvBackward;
  const int peer = to_next ? stage + 1 : stage - 1;
  return peer < schedule.num_stages() ? peer : -1;
}

int peer_rank(const Schedule& schedule, int rank, const Action& message) {
  const int peer = peer_stage(schedule, message.operation, schedule.find_stage(rank, message.chunk));
  return peer < 0 ? -1 : schedule.rank_of_stage(peer);
}

int message_tag(const Schedule& schedule, int rank, const Action& action) {
  const int stage = schedule.find_stage(rank, action.chunk);
  const int src_stage = is_send(action.operation) ? stage : peer_stage(schedule, action.operation, stage);
  const int direction = travels_forward(action.operation) ? 0 : 1;
  return (direction * schedule.num_stages() + src_stage) * schedule.num_micro_batches + action.micro_batch;
}

std::string describe(const Schedule& schedule, const Action& action) {
  const char* part = action.extent == Extent::kStart ? "start of " : action.extent == Extent::kFinish ? "end of " : "";
  const std::string where = schedule.num_chunks > 1 ? fmt::format(" in chunk {}", action.chunk) : "";
  return fmt::format("{}{} of micro-batch {}{}", part, get_name(action.operation), action.micro_batch, where);
}

std::string short_name(const Schedule& schedule, const Action& action) {
  static constexpr std::array<const char*, kNumOperations> kLetters = {
      "F", "B", "I", "W", "recv_forward ", "send_forward ", "recv_backward ", "send_backward "};
  return fmt::format("{}{}{}", kLetters[static_cast<std::size_t>(action.operation)], action.micro_batch,
                     schedule.num_chunks > 1 ? letters(action.chunk) : "");
}

}  // namespace lab::pipeline
