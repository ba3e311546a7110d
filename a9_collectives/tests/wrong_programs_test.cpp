#include "a9_collectives/tests/wrong_programs.h"

#include "a9_collectives/chunks.h"

// Wrong programs whose ranks wait for something that never comes. Each ends on every rank, with the message that says
// who waits for whom, and where in the student's file ("@").
namespace lab::a9 {
namespace {

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

/// Two ranks swap their tensors, each sending first.
at::Tensor allreduce_head_to_head(at::Tensor tensor, PointToPoint& p2p) {
  const int peer = 1 - p2p.rank();
  const at::Tensor received = at::empty_like(tensor);
  p2p.send(tensor, peer);
  p2p.recv(received, peer);
  return tensor.add_(received);
}

TEST_CASE_TEMPLATE("wrong: both ranks send first", World, Threads, Processes) {
  check_deadlock<World>(2, allreduce_head_to_head,
                        "deadlock: rank 0 waits to send 16 B to rank 1 (@), rank 1 waits to send 16 B to rank 0 (@)");
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

/// The source sends to each rank; each receives from its left neighbour, as in a chain.
at::Tensor broadcast_half_chain(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() > 0) {
    p2p.recv(tensor, p2p.rank() - 1);
    return tensor;
  }
  for (int dst_rank = 1; dst_rank < p2p.size(); ++dst_rank) p2p.send(tensor, dst_rank);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: the expected sender never sends", World, Threads, Processes) {
  check_deadlock<World>(4, broadcast_half_chain,
                        "deadlock: rank 2 waits to receive 16 B from rank 1 (@), but rank 1 has already returned");
}

/// The last rank has no rank to pass the tensor on to, and forgets to receive it.
at::Tensor broadcast_last_returns(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() == p2p.size() - 1) return tensor;
  if (p2p.rank() > 0) p2p.recv(tensor, p2p.rank() - 1);
  p2p.send(tensor, p2p.rank() + 1);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: one rank returns early", World, Threads, Processes) {
  check_deadlock<World>(4, broadcast_last_returns,
                        "deadlock: rank 2 waits to send 16 B to rank 3 (@), but rank 3 has already returned");
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

/// Each rank tags its part with its own number; rank 0 does not know that.
at::Tensor reduce_wrong_tag(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.rank() != 0) {
    p2p.send(tensor, 0, p2p.rank());
    return tensor;
  }
  add_all_others_(tensor, p2p);
  return tensor;
}

TEST_CASE_TEMPLATE("wrong: tags that differ, named before the deadlock they lead to", World, Threads, Processes) {
  check_deadlock<World>(3, reduce_wrong_tag,
                        "tag mismatch: rank 0 waits to receive 16 B from rank 1 with tag 0 (@), "
                        "rank 1 waits to send 16 B to rank 0 with tag 1 (@)",
                        ExitCode::kContract);
}

/// Even ranks exchange with their right, odd ones with their left, and with three ranks the last is left over.
at::Tensor allreduce_odd_one_out(at::Tensor tensor, PointToPoint& p2p) {
  const at::Tensor received = at::empty_like(tensor);
  const int peer = p2p.rank() ^ 1;
  sendrecv(p2p, tensor, peer % p2p.size(), received, peer % p2p.size());
  return tensor.add_(received);
}

TEST_CASE_TEMPLATE("wrong: a partner that has another partner", World, Threads, Processes) {
  check_deadlock<World>(3, allreduce_odd_one_out,
                        "deadlock: rank 2 waits to receive 16 B from rank 0 (@), but rank 0 has already returned");
}

}  // namespace
}  // namespace lab::a9
