#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// What a transport must guarantee, in every world.
namespace lab::launch {
namespace {

TEST_CASE_TEMPLATE("contract: messages travel round a ring at every world size", World, LAB_ALL_WORLDS) {
  for (const int size : world_sizes()) {
    CAPTURE(size);
    const auto outcome = run_ranks(choose_world<World>(size), [](Communicator& comm) {
      PointToPoint& p2p = comm.point_to_point();
      const at::Tensor mine = exact_values_for_rank({3, 5}, at::kFloat, 7, p2p.rank());
      const at::Tensor received = at::zeros({3, 5});
      if (p2p.size() > 1) {
        Request sent = p2p.isend(mine, (p2p.rank() + 1) % p2p.size());
        p2p.recv(received, (p2p.rank() + p2p.size() - 1) % p2p.size());
        sent.wait();
      } else {
        received.copy_(mine);
      }
      return TensorMap{{"received", received}, {"place", at::tensor({p2p.rank(), p2p.size()})}};
    });
    REQUIRE_FALSE(outcome.failure);
    REQUIRE(outcome.ranks.size() == static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      const int left = (rank + size - 1) % size;
      CHECK(at::equal(tensor_of_rank(outcome, rank, "received"), exact_values_for_rank({3, 5}, at::kFloat, 7, left)));
      CHECK(at::equal(tensor_of_rank(outcome, rank, "place"), at::tensor({rank, size})));
    }
  }
}

TEST_CASE_TEMPLATE("contract: same source, destination and tag arrive in order; tags do not mix", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    std::vector<Request> requests;
    std::vector<at::Tensor> values;
    for (int i = 0; i < 60; ++i) {
      values.push_back(p2p.rank() == 0 ? at::full({4}, i) : at::zeros({4}, at::kLong));
      if (p2p.rank() == 0) {
        requests.push_back(p2p.isend(values.back(), 1, i % 3));
      }
    }
    if (p2p.rank() == 1) {
      for (int tag : {2, 0, 1}) {
        for (int i = tag; i < 60; i += 3) requests.push_back(p2p.irecv(values[static_cast<std::size_t>(i)], 0, tag));
      }
    }
    for (Request& request : requests) request.wait();
    return TensorMap{{"values", at::stack(values)}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(at::equal(tensor_of_rank(outcome, 1, "values"), at::arange(60).unsqueeze(1).expand({60, 4})));
}

TEST_CASE_TEMPLATE("contract: many outstanding messages, waited for in any order", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(4, 30), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    std::vector<Request> requests;
    std::vector<at::Tensor> received;
    for (int i = 0; i < 40; ++i) {
      for (int peer = 0; peer < p2p.size(); ++peer) {
        if (peer == p2p.rank()) continue;
        const std::int64_t length = i % 2 == 0 ? 3 : 5000;  // short ones travel in the frame, long ones after it
        requests.push_back(p2p.isend(at::full({length}, p2p.rank() * 1000 + i), peer, i % 5));
        received.push_back(at::zeros({length}, at::kLong));
        requests.push_back(p2p.irecv(received.back(), peer, i % 5));
      }
    }
    for (std::size_t i = 0; i < requests.size(); ++i)
      requests[(i * 67 + 13) % requests.size()].wait();  // 67 is prime to 240
    std::vector<at::Tensor> firsts;
    for (const at::Tensor& tensor : received) {
      if (!at::equal(tensor, at::full_like(tensor, tensor[0].item()))) throw std::runtime_error("a torn message");
      firsts.push_back(tensor[0]);
    }
    return TensorMap{{"firsts", at::stack(firsts)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<std::int64_t> expected;
    for (int i = 0; i < 40; ++i) {
      for (int peer = 0; peer < 4; ++peer) {
        if (peer != rank) expected.push_back(peer * 1000 + i);
      }
    }
    CHECK(at::equal(tensor_of_rank(outcome, rank, "firsts"), at::tensor(expected)));
  }
}

TEST_CASE_TEMPLATE("contract: 10,000 messages both ways", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2, 60), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const int peer = 1 - p2p.rank();
    const at::Tensor out = at::arange(10000).mul(p2p.rank() + 1);
    const at::Tensor in = at::zeros({10000}, at::kLong);
    std::vector<Request> requests;
    for (int i = 0; i < 10000; ++i) {
      requests.push_back(p2p.isend(out[i], peer));
      requests.push_back(p2p.irecv(in[i], peer));
    }
    for (Request& request : requests) request.wait();
    return TensorMap{{"in", in}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 2; ++rank)
    CHECK(at::equal(tensor_of_rank(outcome, rank, "in"), at::arange(10000).mul(2 - rank)));
}

TEST_CASE_TEMPLATE("contract: 64 MiB, empty and scalar messages", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2, 60), [](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const std::int64_t length = 64 << 18;  // float32
    if (p2p.rank() == 0) {
      p2p.send(at::arange(length, at::kFloat), 1);
      p2p.send(at::empty({0, 7}), 1);
      p2p.send(at::scalar_tensor(2.5), 1);
      return TensorMap{};
    }
    const at::Tensor large = at::zeros({length});
    const at::Tensor scalar = at::zeros({});
    p2p.recv(large, 0);
    p2p.recv(at::empty({0, 7}), 0);
    p2p.recv(scalar, 0);
    return TensorMap{{"equal", at::scalar_tensor(at::equal(large, at::arange(length, at::kFloat)) ? 1 : 0)},
                     {"scalar", scalar}};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(tensor_of_rank(outcome, 1, "equal").item().toInt() == 1);
  CHECK(tensor_of_rank(outcome, 1, "scalar").item().toFloat() == 2.5F);
}

TEST_CASE_TEMPLATE("contract: every dtype, and tensors that are not contiguous", World, LAB_ALL_WORLDS) {
  const std::vector<at::ScalarType> dtypes = {at::kLong, at::kDouble, at::kBool, at::kBFloat16,
                                              at::kInt,  at::kByte,   at::kHalf};
  const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    TensorMap results;
    for (const at::ScalarType dtype : dtypes) {
      const at::Tensor whole = exact_values({6, 8}, dtype, 3);
      if (p2p.rank() == 0) {
        p2p.send(whole.t(), 1);
      } else {
        const at::Tensor target = at::zeros({16, 6}, whole.options());
        p2p.recv(target.slice(0, 0, 16, 2), 0);  // every other row
        results["target" + std::to_string(static_cast<int>(dtype))] = target;
      }
    }
    return results;
  });
  REQUIRE_FALSE(outcome.failure);
  for (const at::ScalarType dtype : dtypes) {
    const at::Tensor target = tensor_of_rank(outcome, 1, "target" + std::to_string(static_cast<int>(dtype)));
    CHECK(at::equal(target.slice(0, 0, 16, 2), exact_values({6, 8}, dtype, 3).t()));
    CHECK(at::equal(target.slice(0, 1, 16, 2), at::zeros({8, 6}, target.options())));
  }
}

TEST_CASE_TEMPLATE("contract: a conjugated or negated view is sent, and received into, by its values", World,
                   LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [&](Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const at::Tensor parts = exact_values({2, 4}, at::kDouble, 5);
    const at::Tensor value = at::complex(parts[0], parts[1]);
    if (p2p.rank() == 0) {
      p2p.send(value.conj(), 1);
      p2p.send(at::_neg_view(parts[1]), 1);
      p2p.send(value, 1);
      return TensorMap{};
    }
    const at::Tensor conjugated = at::zeros_like(value), negated = at::zeros_like(parts[0]);
    const at::Tensor target = at::zeros_like(value);
    p2p.recv(conjugated, 0);
    p2p.recv(negated, 0);
    p2p.recv(target.conj(), 0);
    return TensorMap{
        {"conjugated", at::view_as_real(conjugated)}, {"negated", negated}, {"target", at::view_as_real(target)}};
  });
  REQUIRE_FALSE(outcome.failure);
  const at::Tensor parts = exact_values({2, 4}, at::kDouble, 5);
  const at::Tensor conjugated = at::stack({parts[0], -parts[1]}, 1);
  CHECK(at::equal(tensor_of_rank(outcome, 1, "conjugated"), conjugated));
  CHECK(at::equal(tensor_of_rank(outcome, 1, "negated"), -parts[1]));
  CHECK(at::equal(tensor_of_rank(outcome, 1, "target"), conjugated));
}

TEST_CASE_TEMPLATE("contract: sub-groups have ranks and messages of their own", World, LAB_ALL_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(5), [](Communicator& comm) {
    const bool odd = comm.rank() % 2 == 1;
    Communicator half = comm.subgroup(odd ? std::vector<int>{3, 1} : std::vector<int>{0, 2, 4});
    const at::Tensor sum = half.collectives().all_reduce(at::full({3}, comm.rank() + 1));
    // The same two ranks, the same tag, in the world and in the sub-group: two different channels.
    const at::Tensor in_world = at::zeros({1}, at::kLong);
    const at::Tensor in_half = at::zeros({1}, at::kLong);
    if (odd) {
      const int peer = comm.rank() == 1 ? 3 : 1;
      Request a = comm.point_to_point().isend(at::full({1}, 100 + comm.rank()), peer);
      Request b = half.point_to_point().isend(at::full({1}, 200 + comm.rank()), 1 - half.rank());
      half.point_to_point().recv(in_half, 1 - half.rank());
      comm.point_to_point().recv(in_world, peer);
      a.wait();
      b.wait();
    }
    return TensorMap{{"sum", sum}, {"rank", at::full({1}, half.rank())}, {"in_world", in_world}, {"in_half", in_half}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 5; ++rank) {
    CHECK(at::equal(tensor_of_rank(outcome, rank, "sum"), at::full({3}, rank % 2 == 1 ? 2 + 4 : 1 + 3 + 5)));
  }
  CHECK(tensor_of_rank(outcome, 3, "rank").item().toInt() == 0);
  CHECK(tensor_of_rank(outcome, 1, "rank").item().toInt() == 1);
  CHECK(tensor_of_rank(outcome, 1, "in_world").item().toInt() == 103);
  CHECK(tensor_of_rank(outcome, 1, "in_half").item().toInt() == 203);
}

// The relay has clocks of its own, which it restarts with each piece of work.
TEST_CASE_TEMPLATE("contract: rounds are counted from zero again after a restart of the clock", World,
                   LAB_WORLDS_OF_ONE_PROCESS, LAB_PROCESS_WORLDS) {
  const auto outcome = run_ranks(choose_world<World>(2), [](Communicator& comm) {
    const auto pass = [&] {
      if (comm.rank() == 0) comm.point_to_point().send(at::zeros({1}), 1);
      if (comm.rank() == 1) comm.point_to_point().recv(at::zeros({1}), 0);
    };
    for (int message = 0; message < 3; ++message) pass();
    get_endpoint(comm).restart_clock();
    pass();
    return TensorMap{{"rounds", at::full({1}, static_cast<std::int64_t>(get_endpoint(comm).ledger().total().rounds))}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < 2; ++rank) CHECK(tensor_of_rank(outcome, rank, "rounds").item().toLong() == 3 + 1);
}

}  // namespace
}  // namespace lab::launch
