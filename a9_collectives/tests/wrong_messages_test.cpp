#include <cstdlib>

#include "a9_collectives/cases/cases.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/tests/wrong_programs.h"
#include "common/checks/case.h"
#include "common/tensor/exact_data.h"

// Wrong programs whose messages or requests are at fault, and ranks that end in the middle. Where one rank is to blame,
// it says why and the others name it.
namespace lab::a9 {
namespace {

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

/// Forgets that the root is one of the ranks.
at::Tensor broadcast_to_itself(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() != 0) p2p.recv(tensor, 0);
  for (int dst_rank = 0; p2p.rank() == 0 && dst_rank < p2p.size(); ++dst_rank) p2p.send(tensor, dst_rank);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: the root sends to itself", World, Threads, Processes) {
  const std::string reason = "@: rank 0 cannot send to itself; hint: copy the tensor";
  const Ending ending = ending_of<World>(3, broadcast_to_itself);
  CHECK((ending.exit_code == ExitCode::kContract));
  CHECK(ending.message == "rank 0: " + reason);
  CHECK(ending.messages[0] == reason);
  check_others_name(ending, 0, reason);
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

/// Counts ranks from 1, so that no rank is the source.
at::Tensor broadcast_counts_from_one(at::Tensor tensor, PointToPoint& p2p) {
  const int src_rank = p2p.size();
  if (p2p.rank() != src_rank) p2p.recv(tensor, src_rank);
  for (int dst_rank = 0; p2p.rank() == src_rank && dst_rank < src_rank; ++dst_rank) p2p.send(tensor, dst_rank);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: src_rank is the number of ranks", World, Threads, Processes) {
  const Ending ending = ending_of<World>(3, broadcast_counts_from_one);
  CHECK((ending.exit_code == ExitCode::kContract));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK((ending.exit_codes[rank] == ExitCode::kContract));
    CHECK(ending.messages[rank] == fmt::format("@: rank {} cannot receive from rank 3: expected 0 to 2", rank));
  }
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

/// Adds up in double for precision, and sends that.
at::Tensor allreduce_in_double(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() != 0) {
    p2p.send(tensor, 0);
    p2p.recv(tensor, 0);
    return tensor;
  }
  const at::Tensor sum = tensor.to(at::kDouble);
  const at::Tensor received = at::empty_like(tensor);
  for (int src_rank = 1; src_rank < p2p.size(); ++src_rank) {
    p2p.recv(received, src_rank);
    sum.add_(received);
  }
  for (int dst_rank = 1; dst_rank < p2p.size(); ++dst_rank) p2p.send(sum, dst_rank);
  return tensor.copy_(sum);
}

TEST_CASE_TEMPLATE("wrong: sends another dtype than the receiver expects", World, Threads, Processes) {
  check_disagreement(ending_of<World>(2, allreduce_in_double),
                     "dtype mismatch: rank 0 sends float64 [4] to rank 1 (@), which expects float32 [4] (@)");
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

/// Keeps the requests, but returns without waiting.
at::Tensor broadcast_without_wait(at::Tensor tensor, PointToPoint& p2p) {
  std::vector<Request> requests;
  if (p2p.rank() != 0) p2p.recv(tensor, 0);
  for (int dst_rank = 1; p2p.rank() == 0 && dst_rank < p2p.size(); ++dst_rank)
    requests.push_back(p2p.isend(tensor, dst_rank));
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: requests that are never waited for", World, Threads, Processes) {
  const Ending ending = ending_of<World>(3, broadcast_without_wait);
  CHECK((ending.exit_code == ExitCode::kContract));
  CHECK(ending.messages[0] ==
        "rank 0 dropped its isend to rank 1 (@) without waiting for it; hint: keep the Request and call wait()");
  check_others_name(ending, 0, ending.messages[0]);
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
    const auto outcome = run_ranks(world_of<World>(2), RankBody([&](Communicator& comm, RankOutcome& own) {
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
