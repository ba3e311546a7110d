#include "common/comm/messages/ledger.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Tensors without memory travel within one process only.
namespace lab::launch {
namespace {

TEST_CASE_TEMPLATE("contract: a meta tensor travels as its sizes alone", World, LAB_WORLDS_OF_ONE_PROCESS) {
  const auto on_meta = [](at::IntArrayRef shape) { return at::empty(shape, at::TensorOptions().device(at::kMeta)); };
  SUBCASE("and is counted like any other") {
    const auto outcome = run_ranks(choose_world<World>(2, 1e5), [&](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      const std::int64_t huge = std::int64_t{1} << 40;
      if (p2p.rank() == 0) p2p.send(on_meta({huge}), 1);
      if (p2p.rank() == 0) p2p.send(on_meta({4, 5}).t(), 1);
      if (p2p.rank() == 1) p2p.recv(on_meta({huge}), 0);
      if (p2p.rank() == 1) p2p.recv(on_meta({4, 5}).t(), 0);
      const at::Tensor sum = comm.collectives().all_reduce(on_meta({7}));
      return TensorMap{{"sizes", at::full({sum.is_meta() ? sum.size(0) : 0}, 1)}};
    });
    CAPTURE(message_of_rank(outcome, 0));
    REQUIRE_FALSE(outcome.failure);
    CHECK(tensor_of_rank(outcome, 0, "sizes").numel() == 7);
    comm::Ledger ledger;
    for (const LedgerEntry& entry : outcome.ranks[1].report.ledger) ledger.add(entry);
    CHECK(ledger.of("message").bytes_received == (std::uint64_t{1} << 42) + 80);
  }
  SUBCASE("but not into a tensor that has data") {
    const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
      if (comm.rank() == 0) comm.point_to_point().send(on_meta({2}), 1);
      if (comm.rank() == 1) comm.point_to_point().recv(at::zeros({2}), 0);
      return TensorMap{};
    });
    for (int rank = 0; rank < 2; ++rank) {
      CHECK(exit_code_of_rank(outcome, rank) == static_cast<int>(ExitCode::kContract));
      CHECK(contains(message_of_rank(outcome, rank), "device mismatch: rank 0 sends a meta tensor to rank 1 ("));
      CHECK(contains(message_of_rank(outcome, rank), "which expects data (meta_test.cpp:"));
    }
  }
}

TEST_CASE_TEMPLATE("contract: between processes a meta tensor is refused", World, LAB_PROCESS_WORLDS) {
  for (const bool collective : {false, true}) {
    CAPTURE(collective);
    const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
      const at::Tensor meta = at::empty({2}, at::TensorOptions().device(at::kMeta));
      if (collective) comm.collectives().all_reduce(meta);
      if (comm.rank() == 0) comm.point_to_point().send(meta, 1);
      if (comm.rank() == 1) comm.point_to_point().recv(meta, 0);
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
    CHECK(contains(outcome.failure->message, "a meta tensor has no data to send"));
  }
}

}  // namespace
}  // namespace lab::launch
