#include <functional>
#include <string>

#include "common/testing/test.h"
#include "common/testing/worlds.h"

// What careful worlds of any kind see: memory of a message under way that is touched, and memory never written.
namespace lab::launch {
namespace {

/// What rank 0 is told; rank 1 does its part of it.
using Exchange = std::function<void(PointToPoint&, const at::Tensor& buffer)>;

template <class World>
std::string refusal(const Exchange& exchange) {
  const WorldOutcome outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
    exchange(comm.point_to_point(), at::zeros({4096}));
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  return outcome.failure->message;
}

TEST_CASE_TEMPLATE("contract: a tensor that was changed between isend and wait is refused", World, LAB_ALL_WORLDS) {
  const std::string message = refusal<World>([](PointToPoint& p2p, const at::Tensor& buffer) {
    if (p2p.rank() == 1) return p2p.recv(buffer, 0);
    Request sent = p2p.isend(buffer.narrow(0, 0, 4096), 1);
    buffer[4095] = 1;
    sent.wait();
  });
  CHECK(message.find("was changed before wait()") != std::string::npos);
}

TEST_CASE_TEMPLATE("contract: receiving into what is sent, or received into, is refused before it is posted", World,
                   LAB_ALL_WORLDS) {
  for (const bool sends_first : {true, false}) {
    const std::string message = refusal<World>([&](PointToPoint& p2p, const at::Tensor& buffer) {
      const int peer = 1 - p2p.rank();
      const at::Tensor first = buffer.narrow(0, 0, 100);
      Request request = sends_first ? p2p.isend(first, peer) : p2p.irecv(first, peer);
      p2p.recv(buffer.narrow(0, 99, 100), peer);
      request.wait();
    });
    CHECK(message.find("shares memory with that of its") != std::string::npos);
  }
}

TEST_CASE_TEMPLATE("contract: one tensor to several ranks, parts next to each other, and columns of one tensor", World,
                   LAB_ALL_WORLDS) {
  const WorldOutcome outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor sent = at::full({4}, p2p.rank(), at::kFloat), received = at::zeros({4, 3}), row = at::zeros({12});
    std::vector<Request> requests;
    for (int peer = 0; peer < 3; ++peer) {
      if (peer == p2p.rank()) continue;
      requests.push_back(p2p.irecv(received.select(1, peer), peer, 0));
      requests.push_back(p2p.irecv(row.narrow(0, 4 * peer, 4), peer, 1));
      for (const int tag : {0, 1}) requests.push_back(p2p.isend(sent, peer, tag));
    }
    for (Request& request : requests) request.wait();
    return TensorMap{{"received", received}, {"row", row}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(tensor_of_rank(outcome, 0, "received").sum().template item<float>() == 12);
  CHECK(tensor_of_rank(outcome, 0, "row").sum().template item<float>() == 12);
}

TEST_CASE_TEMPLATE("contract: new tensors hold huge numbers until they are written", World, LAB_ALL_WORLDS) {
  const WorldOutcome outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    const at::Tensor sum = at::empty({100});
    for (int i = 0; i < 3; ++i) sum.add_(comm.rank());
    return TensorMap{{"sum", sum}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK((tensor_of_rank(outcome, 1, "sum") > 1e30).all().template item<bool>());
}

}  // namespace
}  // namespace lab::launch
