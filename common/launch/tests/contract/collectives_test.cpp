#include "common/comm/messages/ledger.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The built-in collectives give the same results and the same ledger entries in every world.
namespace lab::launch {
namespace {

at::Tensor of_rank(at::IntArrayRef shape, at::ScalarType dtype, int rank) {
  return exact_values_for_rank(shape, dtype, 11, rank);
}

TEST_CASE_TEMPLATE("contract: collectives against closed forms at every world size", World, LAB_ALL_WORLDS) {
  for (const int size : world_sizes()) {
    for (const at::ScalarType dtype : {at::kFloat, at::kLong, at::kBFloat16}) {
      CAPTURE(size);
      CAPTURE(static_cast<int>(dtype));
      const auto outcome = run_ranks(choose_world<World>(size), [&](Communicator& comm) {
        Collectives& c = comm.collectives();
        const int rank = c.rank();
        TensorMap results;
        for (int source = 0; source < size; source += 2) {
          results["broadcast" + std::to_string(source)] = c.broadcast(of_rank({3, 4}, dtype, rank), source);
        }
        results["all_reduce"] =
            c.all_reduce(of_rank({3, 7}, dtype, rank).t());  // 21 elements: no world size divides it evenly
        results["all_gather"] = at::stack(c.all_gather(of_rank({5}, dtype, rank)));
        results["reduce_scatter"] = c.reduce_scatter(of_rank({2 * size, 3}, dtype, rank));
        std::vector<at::Tensor> parts;
        std::vector<std::vector<std::int64_t>> shapes;
        for (int peer = 0; peer < size; ++peer) {  // uneven parts, some of them empty
          parts.push_back(of_rank({rank, peer + 1}, dtype, rank));
          shapes.push_back({peer, rank + 1});
        }
        const std::vector<at::Tensor> received = c.all_to_all(parts, shapes);
        for (int peer = 0; peer < size; ++peer)
          results["all_to_all" + std::to_string(peer)] = received[static_cast<std::size_t>(peer)];
        c.barrier();
        return results;
      });
      REQUIRE_FALSE(outcome.failure);
      at::Tensor sum = at::zeros({7, 3}, dtype);
      at::Tensor scattered = at::zeros({2 * size, 3}, dtype);
      std::vector<at::Tensor> gathered;
      for (int rank = 0; rank < size; ++rank) {
        sum += of_rank({3, 7}, dtype, rank).t();
        scattered += of_rank({2 * size, 3}, dtype, rank);
        gathered.push_back(of_rank({5}, dtype, rank));
      }
      for (int rank = 0; rank < size; ++rank) {
        CAPTURE(rank);
        for (int source = 0; source < size; source += 2) {
          CHECK(at::equal(tensor_of_rank(outcome, rank, "broadcast" + std::to_string(source)),
                          of_rank({3, 4}, dtype, source)));
        }
        CHECK(at::equal(tensor_of_rank(outcome, rank, "all_reduce"), sum));
        CHECK(at::equal(tensor_of_rank(outcome, rank, "all_gather"), at::stack(gathered)));
        CHECK(at::equal(tensor_of_rank(outcome, rank, "reduce_scatter"), scattered.narrow(0, 2 * rank, 2)));
        for (int peer = 0; peer < size; ++peer) {
          CHECK(at::equal(tensor_of_rank(outcome, rank, "all_to_all" + std::to_string(peer)),
                          of_rank({peer, rank + 1}, dtype, peer)));
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("contract: the ledger charges collectives alike in every world", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(4), [](Communicator& comm) {
    Collectives& c = comm.collectives();
    c.all_reduce(at::zeros({8}));
    c.broadcast(at::zeros({8}), 1);
    c.all_gather(at::zeros({8}));
    c.reduce_scatter(at::zeros({8}));
    c.all_to_all(std::vector<at::Tensor>(4, at::zeros({2})), std::vector<std::vector<std::int64_t>>(4, {2}));
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const RankOutcome& rank : outcome.ranks) {
    comm::Ledger ledger;
    for (const LedgerEntry& entry : rank.report.ledger) ledger.add(entry);
    CHECK(ledger.of("all_reduce").bytes_sent == 48);      // 2 (p-1)/p n, n = 32 bytes
    CHECK(ledger.of("all_gather").bytes_sent == 96);      // (p-1)/p n, n = the 128 bytes of the output
    CHECK(ledger.of("reduce_scatter").bytes_sent == 24);  // (p-1)/p n, n = the 32 bytes of the input
    CHECK(ledger.of("all_to_all").bytes_sent == 24);      // counted
    CHECK(ledger.of("all_to_all").bytes_received == 24);
    CHECK(ledger.of("broadcast").bytes_sent == (rank.report.rank == 1 ? 32 : 0));
    CHECK(ledger.of("broadcast").bytes_received == (rank.report.rank == 1 ? 0 : 32));
    CHECK(ledger.of("message").messages == 0);
  }
}

TEST_CASE_TEMPLATE("contract: groups that did not do as much as others meet again in the whole world", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    Communicator own = comm.subgroup(comm.rank() == 1 ? std::vector<int>{1} : std::vector<int>{2, 0});
    TensorMap results;
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; i <= comm.rank() % 2; ++i) own.collectives().all_reduce(at::ones({2}));
      results["group" + std::to_string(turn)] = own.collectives().all_reduce(at::full({2}, comm.rank() + 1.0));
      results["world" + std::to_string(turn)] = comm.collectives().all_reduce(at::full({2}, comm.rank() + 1.0));
    }
    return results;
  });
  REQUIRE_FALSE(outcome.failure);
  for (const int rank : {0, 1, 2}) {
    for (const char* turn : {"0", "1"}) {
      CHECK(
          at::equal(tensor_of_rank(outcome, rank, std::string("group") + turn), at::full({2}, rank == 1 ? 2.0 : 4.0)));
      CHECK(at::equal(tensor_of_rank(outcome, rank, std::string("world") + turn), at::full({2}, 6.0)));
    }
  }
}

TEST_CASE_TEMPLATE("contract: an all-to-all part of another shape than agreed is refused", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(3), [](Communicator& comm) {
    std::vector<std::vector<std::int64_t>> shapes(3, {2});
    if (comm.rank() == 2) shapes[0] = {3};
    comm.collectives().all_to_all(std::vector<at::Tensor>(3, at::zeros({2})), shapes);
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
  CHECK(contains(outcome.failure->message, "shape mismatch in all_to_all: rank 0 has float32 [2]"));
}

}  // namespace
}  // namespace lab::launch
