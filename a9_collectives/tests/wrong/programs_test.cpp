#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "a9_collectives/cases/cases.h"
#include "a9_collectives/chunks.h"
#include "common/checks/case.h"
#include "common/tensor/exact_data.h"
#include "common/testing/worlds.h"

// Wrong student programs, each a collective with one mistake: ranks that wait for something that never comes, messages
// and requests at fault, and ranks that end in the middle. Each ends on every rank, with a message that says who waits
// for whom, or which rank is to blame, and where in the student's file. What a single call can get wrong is in
// common/launch/tests/contract/failures_test.cpp.
namespace lab::a9 {
namespace {

using Program = at::Tensor (*)(at::Tensor, PointToPoint&);

/// With "@" for the source lines of the wrong programs, so that whole messages can be compared.
std::string without_lines(const std::string& message) {
  static const std::regex line("programs_test\\.cpp:[0-9]+");
  return std::regex_replace(message, line, "@");
}

struct Ending {
  ExitCode exit_code = ExitCode::kAllMatch;  ///< of the world
  std::string message;
  std::vector<ExitCode> exit_codes;  ///< by rank
  std::vector<std::string> messages;
};

/// Rank r calls the program with four floats, all r + 1.
template <typename World>
Ending ending_of(int size, Program program) {
  const launch::WorldOutcome outcome = launch::run_ranks(world_of<World>(size), [program](Communicator& comm) {
    const at::Tensor tensor = at::full({4}, comm.rank() + 1.0F);
    return TensorMap{{"out", program(tensor, comm.point_to_point())}};
  });
  Ending ending;
  ending.exit_code = static_cast<ExitCode>(outcome.exit_code());
  if (outcome.failure) ending.message = without_lines(outcome.failure->message);
  for (int rank = 0; rank < size; ++rank) {
    ending.exit_codes.push_back(static_cast<ExitCode>(exit_code_of_rank(outcome, rank)));
    ending.messages.push_back(without_lines(message_of_rank(outcome, rank)));
  }
  return ending;
}

template <typename World>
void check_deadlock(int size, Program program, const std::string& message, ExitCode exit_code = ExitCode::kDeadlock) {
  const Ending ending = ending_of<World>(size, program);
  CHECK(ending.message == message);
  CHECK((ending.exit_code == exit_code));
  for (std::size_t rank = 0; rank < ending.messages.size(); ++rank) {
    // A process may hear of the verdict from a rank that heard it first.
    const bool from_another = ending.exit_codes[rank] == ExitCode::kCommunication;
    CAPTURE(rank);
    CAPTURE(ending.messages[rank]);
    CHECK((from_another || ending.exit_codes[rank] == exit_code));
    CHECK(std::regex_replace(ending.messages[rank], std::regex("^rank [0-9] failed: "), "") == message);
  }
}

/// A ring in which every rank sends to its right before it receives from its left.
at::Tensor allgather_blocking_ring(at::Tensor tensor, PointToPoint& p2p) {
  const int size = p2p.size();
  std::vector<at::Tensor> parts(static_cast<std::size_t>(size), tensor);
  for (int step = 0; step < size - 1; ++step) {
    const int held = (p2p.rank() - step + size) % size;
    const int next = (held - 1 + size) % size;
    parts[static_cast<std::size_t>(next)] = at::empty_like(tensor);
    p2p.send(parts[static_cast<std::size_t>(held)], (p2p.rank() + 1) % size);
    p2p.recv(parts[static_cast<std::size_t>(next)], (p2p.rank() - 1 + size) % size);
  }
  return at::cat(parts);
}

TEST_CASE_TEMPLATE("wrong: a ring of blocking sends", World, Threads, Processes) {
  check_deadlock<World>(5, allgather_blocking_ring,
                        "deadlock: rank 0 waits to send 16 B to rank 1 (@), rank 1 waits to send 16 B to rank 2 (@), "
                        "rank 2 waits to send 16 B to rank 3 (@), rank 3 waits to send 16 B to rank 4 (@), "
                        "rank 4 waits to send 16 B to rank 0 (@)");
}

/// Receives from its right what comes from its left. On two ranks it is right.
at::Tensor allreduce_swapped_source(at::Tensor tensor, PointToPoint& p2p) {
  const int right = (p2p.rank() + 1) % p2p.size();
  at::Tensor travelling = tensor.clone();
  for (int step = 0; step < p2p.size() - 1; ++step) {
    const at::Tensor received = at::empty_like(tensor);
    Request sent = p2p.isend(travelling, right);
    p2p.recv(received, right);
    sent.wait();
    tensor.add_(received);
    travelling = received;
  }
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: source and destination swapped", World, Threads, Processes) {
  check_deadlock<World>(3, allreduce_swapped_source,
                        "deadlock: rank 0 waits to receive 16 B from rank 1 (@), "
                        "rank 1 waits to receive 16 B from rank 2 (@), rank 2 waits to receive 16 B from rank 0 (@)");
}

TEST_CASE("source and destination swapped: two ranks do not notice<threads>") {
  CHECK((ending_of<Threads>(2, allreduce_swapped_source).exit_code == ExitCode::kAllMatch));
}

/// Every rank first receives from all others, in rank order.
at::Tensor all_to_all_receives_first(at::Tensor tensor, PointToPoint& p2p) {
  const std::vector<at::Tensor> chunks = tensor.chunk(p2p.size(), 0);
  const at::Tensor out = tensor.clone();
  const std::vector<at::Tensor> places = out.chunk(p2p.size(), 0);
  for (int src_rank = 0; src_rank < p2p.size(); ++src_rank) {
    if (src_rank != p2p.rank()) p2p.recv(places[static_cast<std::size_t>(src_rank)], src_rank);
  }
  for (int dst_rank = 0; dst_rank < p2p.size(); ++dst_rank) {
    if (dst_rank != p2p.rank()) p2p.send(chunks[static_cast<std::size_t>(dst_rank)], dst_rank);
  }
  return out;
}

TEST_CASE_TEMPLATE("wrong: an all-to-all in which all receive first", World, Threads, Processes) {
  check_deadlock<World>(
      4, all_to_all_receives_first,
      "deadlock: rank 0 waits to receive 4 B from rank 1 (@), rank 1 waits to receive 4 B from rank 0 (@)");
}

/// The loop over the other ranks ends one too early.
at::Tensor broadcast_forgets_one(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() != 0) {
    p2p.recv(tensor, 0);
    return tensor;
  }
  for (int dst_rank = 1; dst_rank < p2p.size() - 1; ++dst_rank) p2p.send(tensor, dst_rank);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: the root forgets one rank", World, Threads, Processes) {
  check_deadlock<World>(4, broadcast_forgets_one,
                        "deadlock: rank 3 waits to receive 16 B from rank 0 (@), but rank 0 has already returned");
}

/// What rank 0 does with the others' tensors.
void add_all_others_(const at::Tensor& tensor, PointToPoint& p2p) {
  const at::Tensor received = at::empty_like(tensor);
  for (int src_rank = 1; src_rank < p2p.size(); ++src_rank) {
    p2p.recv(received, src_rank);
    tensor.add_(received);
  }
}

/// Rank 0 sends the sum back to the last rank twice.
at::Tensor allreduce_one_message_too_many(at::Tensor tensor, PointToPoint& p2p) {
  const int last = p2p.size() - 1;
  if (p2p.rank() != 0) {
    p2p.send(tensor, 0);
    p2p.recv(tensor, 0);
    return tensor;
  }
  add_all_others_(tensor, p2p);
  for (int dst_rank = 1; dst_rank <= last + 1; ++dst_rank) p2p.send(tensor, std::min(dst_rank, last));
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: one message too many", World, Threads, Processes) {
  check_deadlock<World>(3, allreduce_one_message_too_many,
                        "deadlock: rank 0 waits to send 16 B to rank 2 (@), but rank 2 has already returned");
}

/// Every rank but the culprit fails because of it.
void check_others_name(const Ending& ending, std::size_t culprit, const std::string& reason) {
  for (std::size_t rank = 0; rank < ending.messages.size(); ++rank) {
    if (rank == culprit) continue;
    CAPTURE(rank);
    CHECK((ending.exit_codes[rank] == ExitCode::kCommunication));
    CHECK(ending.messages[rank] == fmt::format("rank {} failed: {}", culprit, reason));
  }
}

/// Rank 0 and the last see the fault of a message between them; ranks between them name one of the two.
void check_disagreement(const Ending& ending, const std::string& message) {
  CHECK((ending.exit_code == ExitCode::kContract));
  CHECK(ending.message == message);
  for (std::size_t rank = 0; rank < ending.messages.size(); ++rank) {
    CAPTURE(rank);
    const bool is_end = rank == 0 || rank == ending.messages.size() - 1;
    CHECK((ending.exit_codes[rank] == (is_end ? ExitCode::kContract : ExitCode::kCommunication)));
    if (is_end) CHECK(ending.messages[rank] == message);
    if (!is_end) CHECK(contains(ending.messages[rank], " failed: " + message));
  }
}

/// The last rank's right neighbour is not rank 0, but a rank that does not exist.
at::Tensor allreduce_without_modulo(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() > 0) {
    const at::Tensor received = at::empty_like(tensor);
    p2p.recv(received, p2p.rank() - 1);
    tensor.add_(received);
  }
  p2p.send(tensor, p2p.rank() + 1);
  if (p2p.rank() == 0) p2p.recv(tensor, p2p.size() - 1);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: rank + 1 without modulo", World, Threads, Processes) {
  const std::string reason = "@: rank 3 cannot send to rank 4: expected 0 to 3";
  const Ending ending = ending_of<World>(4, allreduce_without_modulo);
  CHECK((ending.exit_code == ExitCode::kContract));
  CHECK(ending.message == "rank 3: " + reason);
  check_others_name(ending, 3, reason);
}

/// Four elements for three ranks: the last rank's chunk takes the rest, and the last rank does not know.
at::Tensor scatter_uneven(at::Tensor tensor, PointToPoint& p2p) {
  const std::int64_t length = tensor.numel() / p2p.size();
  const at::Tensor own = at::empty({length});
  const int last = p2p.size() - 1;
  if (p2p.rank() != 0) p2p.recv(own, 0);
  for (int dst_rank = 1; p2p.rank() == 0 && dst_rank <= last; ++dst_rank) {
    const std::int64_t begin = dst_rank * length;
    p2p.send(tensor.narrow(0, begin, dst_rank == last ? tensor.numel() - begin : length), dst_rank);
  }
  return own;
}

TEST_CASE_TEMPLATE("wrong: chunks of different sizes at the two ends", World, Threads, Processes) {
  check_disagreement(ending_of<World>(3, scatter_uneven),
                     "shape mismatch: rank 0 sends float32 [2] to rank 2 (@), which expects float32 [1] (@)");
}

/// The sender starts with the front, the receiver with the back.
at::Tensor broadcast_halves_out_of_order(at::Tensor tensor, PointToPoint& p2p) {
  const at::Tensor front = tensor.narrow(0, 0, 3);
  const at::Tensor back = tensor.narrow(0, 3, 1);
  if (p2p.rank() == 0) {
    p2p.send(front, 1);
    p2p.send(back, 1);
  } else {
    p2p.recv(back, 0);
    p2p.recv(front, 0);
  }
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: receives in another order than was sent", World, Threads, Processes) {
  check_disagreement(ending_of<World>(2, broadcast_halves_out_of_order),
                     "shape mismatch: rank 0 sends float32 [3] to rank 1 (@), which expects float32 [1] (@)");
}

/// Waits for what it receives twice, and not for what it sends.
at::Tensor allreduce_waits_twice(at::Tensor tensor, PointToPoint& p2p) {
  const at::Tensor received = at::empty_like(tensor);
  Request arriving = p2p.irecv(received, 1 - p2p.rank());
  Request sent = p2p.isend(tensor, 1 - p2p.rank());
  arriving.wait();
  arriving.wait();
  sent.wait();
  return tensor.add_(received);
}

TEST_CASE_TEMPLATE("wrong: one request waited for twice", World, Threads, Processes) {
  const Ending ending = ending_of<World>(2, allreduce_waits_twice);
  CHECK((ending.exit_code == ExitCode::kContract));
  CHECK(contains(ending.message, "wait() was called twice on one Request; hint: wait for each Request once"));
}

/// The last chunk is shorter, and the buffer for it is not.
at::Tensor reduce_chunk_of_another_length(at::Tensor tensor, PointToPoint& p2p) {
  const Chunks chunks(tensor, p2p.size());
  const at::Tensor received = at::empty_like(chunks.chunk(0));
  const int left = (p2p.rank() - 1 + p2p.size()) % p2p.size();
  sendrecv(p2p, chunks.chunk(0), (p2p.rank() + 1) % p2p.size(), received, left);
  if (p2p.rank() == 1) chunks.chunk(1).add_(received);
  p2p.recv(received, 1);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: LibTorch throws on one rank", World, Threads, Processes) {
  const Ending ending = ending_of<World>(3, reduce_chunk_of_another_length);
  CAPTURE(ending.messages[1]);
  CHECK((ending.exit_code == ExitCode::kInternal));  // the wrong function is a test's, not a student's
  CHECK(ending.message == "rank 1: " + ending.messages[1]);
  CHECK(contains(ending.messages[1], "shape [1]"));
  CHECK(contains(ending.messages[1], "shape [2]"));
  check_others_name(ending, 1, ending.messages[1]);
}

/// Ends its process where it should return. (By _Exit: after exit(), LibTorch's destructors run alongside Gloo's
/// threads and may hang, so that only the others' time-out ends the run.)
template <int kCode>
at::Tensor broadcast_exits(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() == 0) std::_Exit(kCode);
  p2p.recv(tensor, 0);
  return tensor;
}

TEST_CASE("wrong: a rank ends its process<processes>") {
  const Ending with_success = ending_of<Processes>(3, broadcast_exits<0>);
  CHECK((with_success.exit_code != ExitCode::kAllMatch));
  CHECK(with_success.messages[0] == "exited with code 0");
  for (const std::size_t rank : {1, 2}) {
    CAPTURE(with_success.messages[rank]);
    CHECK((with_success.exit_codes[rank] != ExitCode::kAllMatch));
    CHECK(contains(with_success.messages[rank], "rank 0"));
  }
  const Ending with_failure = ending_of<Processes>(3, broadcast_exits<3>);
  CHECK((with_failure.exit_code != ExitCode::kAllMatch));
  CHECK(with_failure.message == "rank 0: exited with code 3");
  check_others_name(with_failure, 0, "exited with code 3");
}

TEST_CASE_TEMPLATE("wrong: a part of the result that is never filled is a mismatch", World, Threads, Processes) {
  const CallTable table = {{"a9.allgather", [](Communicator& comm, const CaseInputs& inputs) {
                              PointToPoint& p2p = comm.point_to_point();
                              const at::Tensor x = inputs.tensor("input.x");
                              const at::Tensor out = poison_(at::empty({p2p.size() * x.size(0)}, x.options()));
                              for (int rank = 0; rank < p2p.size(); ++rank) {
                                const at::Tensor part = out.narrow(0, rank * x.size(0), x.size(0));
                                if (rank != p2p.rank()) sendrecv(p2p, x, rank, part, rank);
                              }
                              return TensorMap{{"out", out}, {"x", x}};
                            }}};
  for (const Case& test_case : collective_cases()) {
    if (test_case.name != "AllGather") continue;
    const auto outcome =
        launch::run_ranks(world_of<World>(2), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
                            const CaseResult result = run_case(test_case, table, comm, 42);
                            own.exit_code = result.passed() ? ExitCode::kAllMatch : ExitCode::kMismatch;
                            own.tensors["max_diff"] = at::scalar_tensor(result.comparison.max_diff);
                          }));
    REQUIRE_FALSE(outcome.failure);
    CHECK(outcome.exit_code() == static_cast<int>(ExitCode::kMismatch));
    for (int rank = 0; rank < 2; ++rank) CHECK(tensor_of_rank(outcome, rank, "max_diff").isnan().item().toBool());
  }
}

}  // namespace
}  // namespace lab::a9
