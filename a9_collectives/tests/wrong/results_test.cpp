#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "a9_collectives/tests/wrong/collective.h"
#include "common/testing/test.h"

// Wrong solutions that run to the end: each computes something else, or claims to be an algorithm that it is not, and
// the named case is the one that catches it.
namespace lab::a9 {
namespace {

using testing::contains;

TEST_CASE("the reference passes the same way") {
  CHECK(result_verdict("Broadcast", calls().at("a9.broadcast")) == "passed");
  CHECK(result_verdict("AllReduceInt64", calls().at("a9.allreduce")) == "passed");
  CHECK(result_verdict("AllToAllStrided", calls().at("a9.all_to_all")) == "passed");
  CHECK(result_verdict("AllReduceRing", claims(allreduce_ring)) == "passed");
}

TEST_CASE("wrong: broadcast always from rank 0, which the handout's numbers do not show") {
  const OnTensor from_zero = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return broadcast_flat(x, 0, p2p);
  };
  CHECK(result_verdict("Broadcast", from_zero) == "passed");
  CHECK(result_verdict("BroadcastFromLast", from_zero) == "mismatch");
  CHECK(symptom("BroadcastFromLast", from_zero) == "one_input_everywhere");
}

TEST_CASE("wrong: only rank 0 gets the sum, or it is divided by P, or the own part counts twice") {
  const auto changed =
      [](const std::function<at::Tensor(at::Tensor own, at::Tensor sum, PointToPoint&)>& change) -> OnTensor {
    return [change](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
      const at::Tensor own = x.clone();
      const at::Tensor sum = allreduce_gather_broadcast(x, p2p).clone();
      return x.copy_(change(own, sum, p2p));
    };
  };
  for (const std::string name : {"AllReduce", "AllReduceInt64", "AllReduceLarge"}) {
    CHECK(symptom(name, changed([](at::Tensor own, at::Tensor sum, PointToPoint& p2p) {
                    return p2p.rank() == 0 ? sum : own;
                  })) == "only_rank_zero_right");
    CHECK(result_verdict(name, changed([](at::Tensor, at::Tensor sum, PointToPoint& p2p) {
                           return sum.div(p2p.size(), "trunc");
                         })) == "mismatch");
    CHECK(symptom(name, changed([](at::Tensor own, at::Tensor sum, PointToPoint&) { return sum + own; })) ==
          "summand_twice");
  }
}

/// Sums integers in a floating-point dtype.
OnTensor allreduce_in(at::ScalarType summed_in) {
  return [summed_in](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return x.copy_(allreduce_gather_broadcast(x.to(summed_in), p2p));
  };
}

TEST_CASE("wrong: integers are summed in floating point") {
  for (const at::ScalarType summed_in : {at::kFloat, at::kDouble})
    CHECK(result_verdict("AllReduceInt64", allreduce_in(summed_in)) != "passed");
  CHECK(result_verdict("AllReduceInt64", allreduce_in(at::kDouble)) == "mismatch");
}

TEST_CASE("wrong: the parts of an all-gather start at the own rank") {
  for (const std::string name : {"AllGather", "AllGatherStrided", "AllGatherLarge"}) {
    CHECK(symptom(name, [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
            return allgather_direct(x, p2p).roll(-p2p.rank() * x.size(0), 0);
          }) == "chunks_out_of_order");
  }
}

TEST_CASE("wrong: the parts of an all-gather are joined along dim 1") {
  const auto along_one = [](bool reshaped) -> OnTensor {
    return [reshaped](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
      const at::Tensor whole = at::cat(allgather_direct(x, p2p).chunk(p2p.size(), 0), 1);
      return reshaped ? whole.reshape({p2p.size() * x.size(0), x.size(1), x.size(2)}) : whole;
    };
  };
  CHECK(contains(result_verdict("AllGatherStrided", along_one(false)), "[AllGatherStrided], result 'out'"));
  CHECK(result_verdict("AllGatherStrided", along_one(true)) == "mismatch");
  CHECK(symptom("AllGatherStrided", along_one(false)) == "joined_along_another_dim");
}

TEST_CASE("wrong: a reduce-scatter that keeps the neighbour's chunk, or sums in its argument") {
  for (const std::string name : {"ReduceScatter", "ReduceScatterStrided", "ReduceScatterLarge"}) {
    CHECK(symptom(name, [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
            const at::Tensor sum = sum_of(everybodys(x, p2p), x.sizes());
            return sum.chunk(p2p.size(), 0)[static_cast<std::size_t>((p2p.rank() + 1) % p2p.size())];
          }) == "ranks_shifted");
    CHECK(symptom(name, [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
            x.copy_(sum_of(everybodys(x, p2p), x.sizes()));
            return x.chunk(p2p.size(), 0)[static_cast<std::size_t>(p2p.rank())].clone();
          }) == "argument_changed");
  }
}

/// An all-to-all from all ranks' whole tensors, cut and joined as requested.
OnTensor all_to_all_that(bool ignores_gather_dim, bool ignores_strides, bool reverses) {
  return [=](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const std::int64_t scatter_dim = inputs.integer("scatter_dim"), gather_dim = inputs.integer("gather_dim");
    const at::Tensor read = ignores_strides ? at::from_blob(x.data_ptr(), x.sizes(), x.options()).clone() : x;
    std::vector<at::Tensor> parts;
    for (const at::Tensor& row : everybodys(read, p2p)) {
      const auto chunks = row.view(x.sizes()).chunk(p2p.size(), scatter_dim);
      parts.push_back(chunks[static_cast<std::size_t>(p2p.rank())]);
    }
    if (reverses) std::reverse(parts.begin(), parts.end());
    const at::Tensor wanted = at::cat(parts, gather_dim);
    return ignores_gather_dim ? at::cat(parts, scatter_dim).reshape(wanted.sizes()) : wanted;
  };
}

TEST_CASE("wrong: an all-to-all that joins where it cut, or in another order, or reads memory and not elements") {
  CHECK(result_verdict("AllToAllHeads", all_to_all_that(false, false, false)) == "passed");
  for (const std::string name : {"AllToAllHeads", "AllToAllSequence"})
    CHECK(result_verdict(name, all_to_all_that(true, false, false)) == "mismatch");
  CHECK(symptom("AllToAll", all_to_all_that(false, false, true)) == "chunks_out_of_order");
  CHECK(result_verdict("AllToAllStrided", all_to_all_that(false, true, false)) == "mismatch");
}

TEST_CASE("wrong: an algorithm that is another one") {
  const OnTensor flat = [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    return broadcast_flat(x, src_rank_of(inputs), p2p);
  };
  // Whether the case refuses it by its bounds: messages, bytes or rounds.
  const auto refused = [](const std::string& case_name, const OnTensor& call, int size = 4) {
    const std::string found = result_verdict(case_name, call, size);
    return contains(found, " of a9.") && contains(found, ", expected at ");
  };
  CHECK(refused("BroadcastBinomial", flat, 8));
  CHECK(refused("BroadcastChain", flat));
  CHECK(refused("AllReduceRing", claims(allreduce_gather_broadcast)));
  CHECK(refused("AllReduceRing", claims(allreduce_direct)));
  CHECK(refused("AllReduceRingSegmented", claims(allreduce_ring)));
  CHECK(refused("AllReduceRingSegmented", claims(allreduce_rabenseifner)));
  CHECK(refused("AllReduceRingSegmented", claims(allreduce_direct)));
  CHECK(refused("AllReduceRecursiveDoubling", claims(allreduce_ring)));
  CHECK(refused("AllReduceRecursiveDoubling", claims(allreduce_direct)));
  CHECK(refused("AllReduceRabenseifner", claims(allreduce_recursive_doubling)));
  CHECK(refused("AllReduceRabenseifner", claims(allreduce_direct)));
  CHECK(refused("AllReduceDirect", claims(allreduce_rabenseifner)));
  CHECK(refused("AllReduceDirect", claims(allreduce_recursive_doubling)));
  CHECK(refused("AllGatherBruck", claims(allgather_ring)));
  CHECK(refused("AllGatherBruck", claims(allgather_direct)));
  CHECK(refused("AllGatherRecursiveDoubling", claims(allgather_direct)));
  CHECK(refused("AllGatherRing", claims(allgather_through_root)));
  CHECK(refused("AllGatherRing", claims(allgather_recursive_doubling)));
  CHECK(refused("AllGatherRing", claims(allgather_bruck)));
  CHECK(refused("AllGatherRing", claims(allgather_direct)));
  CHECK(refused("AllGatherDirect", claims(allgather_bruck)));
  CHECK(refused("AllGatherDirect", claims(allgather_ring)));
  CHECK(refused("ReduceScatterRecursiveHalving", claims(reduce_scatter_ring), 8));
  CHECK(refused("ReduceScatterRing", claims(reduce_scatter_recursive_halving)));
  const OnTensor direct = [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    return all_to_all_direct(x, inputs.integer("scatter_dim"), inputs.integer("gather_dim"), p2p);
  };
  CHECK(refused("AllToAllPairwise", direct));
  CHECK(refused("AllToAllBruck", direct));
}

/// A ring whose chunks travel in as many segments, all of them received before one is added.
at::Tensor segments_all_at_once(at::Tensor tensor, PointToPoint& p2p) {
  const int size = p2p.size(), rank = p2p.rank(), left = (rank - 1 + size) % size, right = (rank + 1) % size;
  const Chunks chunks(tensor.view({-1}), size);
  const auto chunk = [&](int index) { return chunks.chunk((index + 2 * size) % size); };
  const std::int64_t count = allreduce_ring_segments(static_cast<std::int64_t>(tensor.nbytes()), size);
  for (int step = 0; step < size - 1; ++step) {
    const at::Tensor whole = at::empty_like(chunk(rank - step - 1));
    const Chunks out(chunk(rank - step), count), in(whole, count);
    std::vector<Request> requests;
    for (std::int64_t i = 0; i < count; ++i) {
      requests.push_back(p2p.irecv(in.chunk(i), left));
      requests.push_back(p2p.isend(out.chunk(i), right));
    }
    for (Request& request : requests) request.wait();
    chunk(rank - step - 1).add_(whole);
  }
  for (int step = 0; step < size - 1; ++step) sendrecv(p2p, chunk(rank + 1 - step), right, chunk(rank - step), left);
  return tensor;
}

TEST_CASE("wrong: a segmented ring that holds a whole chunk") {
  CHECK(result_verdict("AllReduceRingSegmented", claims(allreduce_ring_segmented)) == "passed");
  const std::string found = result_verdict("AllReduceRingSegmented", claims(segments_all_at_once));
  CHECK_MESSAGE(contains(found, "of one process's memory"), found);
  CHECK(result_verdict("AllReduceRing", claims(segments_all_at_once)) == "passed");
}

TEST_CASE("wrong: an algorithm's numbers on 3 or on 4 ranks, after the right messages") {
  using Change = std::function<void(TensorMap & results, Communicator & comm, const CaseInputs& inputs)>;
  const CallTable table = calls();
  for (const Case& test_case : algorithm_cases()) {
    for (const int size : {3, 4}) {
      CAPTURE(test_case.name);
      CAPTURE(size);
      const auto symptom_with = [&](const Change& change) {
        const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
          TensorMap results = table.at(test_case.task)(comm, inputs);
          change(results, comm, inputs);
          return results;
        };
        return testing::judged(test_case, call, size).symptom.id;
      };
      const auto is = [&](const char* collective) { return contains(test_case.task, collective); };
      if (is("allreduce")) {
        CHECK(symptom_with([](TensorMap& results, Communicator& comm, const CaseInputs& inputs) {
                if (comm.rank() != 0) results["out"] = results["x"] = inputs.tensor("input.x");
              }) == "only_rank_zero_right");
      }
      if (is("allgather")) {
        CHECK(symptom_with([](TensorMap& results, Communicator& comm, const CaseInputs& inputs) {
                results["out"] = results["out"].roll(-comm.rank() * inputs.tensor("input.x").size(0), 0);
              }) == "chunks_out_of_order");
      }
      if (is("reduce_scatter")) {
        CHECK(symptom_with([&](TensorMap& results, Communicator& comm, const CaseInputs& inputs) {
                results["out"] = test_case.expected({(comm.rank() + 1) % size, size, inputs.seed}).at("out");
              }) == "ranks_shifted");
        CHECK(symptom_with([](TensorMap& results, Communicator&, const CaseInputs&) {
                results["x"] = results["x"] + 1;
              }) == "argument_changed");
      }
    }
  }
}

/// The expected result without a message: from the formula that made the inputs.
TaskCall by_formula(const std::string& case_name) {
  for (const Case& test_case : collective_cases()) {
    if (test_case.name != case_name) continue;
    return [test_case](Communicator& comm, const CaseInputs& inputs) {
      return test_case.expected({comm.rank(), comm.size(), inputs.seed});
    };
  }
  return {};
}

TEST_CASE("wrong: no communication at all: the other ranks' inputs are recomputed") {
  for (const std::string name : {"BroadcastFromLast", "AllReduce", "AllGather", "ReduceScatter", "AllToAll"}) {
    CAPTURE(name);
    CHECK(contains(result_verdict(name, by_formula(name)), "0 bytes received of a9."));
    CHECK(symptom(name, by_formula(name)) == "nothing_received");
  }
}

}  // namespace
}  // namespace lab::a9
