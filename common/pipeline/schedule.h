#pragma once

#include <string>
#include <vector>

// What each rank of a pipeline does, in which order: plain data, made by a generator, checked by a validator, timed by
// a cost model, drawn, and run. Ranks hold v chunks of consecutive layers each; chunk c of rank r is stage
// c * p + r of the model's p * v stages. A micro-batch goes through all stages forward, then through all of them
// backward.
namespace lab::pipeline {

/// Messages are named as the handout names them, by what travels: forward, the stage's output (the next stage's input);
/// backward, the gradient of the stage's input (the previous stage's output).
enum class Operation {
  kForward,
  kBackward,        ///< both gradients
  kBackwardInput,   ///< the gradient of the stage's input
  kBackwardWeight,  ///< the gradients of the stage's weights
  kRecvForward,
  kSendForward,
  kRecvBackward,
  kSendBackward,
};
constexpr int kNumOperations = 8;

bool is_message(Operation operation);
bool is_send(Operation operation);

/// How much of a message happens at its place in the list: it can be posted early and awaited late. A computation is
/// always whole.
enum class Extent { kWhole, kStart, kFinish };

struct Action {
  Operation operation = Operation::kForward;
  int micro_batch = 0;
  int chunk = 0;
  Extent extent = Extent::kWhole;
};

bool operator==(const Action& left, const Action& right);

struct Schedule {
  std::string kind;  ///< "1f1b"
  int num_ranks = 1;
  int num_micro_batches = 1;
  int num_chunks = 1;                      ///< v, on each rank
  std::vector<std::vector<Action>> ranks;  ///< each rank's list

  int num_stages() const { return num_ranks * num_chunks; }
  int find_stage(int rank, int chunk) const { return chunk * num_ranks + rank; }
  int rank_of_stage(int stage) const { return stage % num_ranks; }
  int chunk_of_stage(int stage) const { return stage / num_ranks; }
};

/// The stage at a message's other end, which may be on the same rank (then no message is needed), or -1 if there is
/// none: nothing is sent forward to the first stage, or from the last.
int peer_stage(const Schedule& schedule, Operation operation, int stage);

/// The rank of peer_stage(), which may be the same rank, or -1.
int peer_rank(const Schedule& schedule, int rank, const Action& message);

/// The message's number, from 0 to 2 * num_stages * num_micro_batches - 1: different for any two messages of the
/// schedule, and equal on a message's two ends.
/// Requires  a message whose peer_stage() is not -1
int message_tag(const Schedule& schedule, int rank, const Action& action);

/// For messages and tables: "forward of micro-batch 3", with several chunks "forward of micro-batch 3 in chunk 1";
/// "start of send_forward of micro-batch 0", "end of recv_backward of micro-batch 2".
std::string describe(const Schedule& schedule, const Action& action);

/// For timelines: F B I W and the micro-batch, "F3"; with several chunks a letter for the chunk, "F3b". A message has
/// its operation's name: "send_forward 3".
std::string short_name(const Schedule& schedule, const Action& action);

}  // namespace lab::pipeline
