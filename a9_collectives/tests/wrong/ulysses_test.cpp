#include <c10/core/GradMode.h>

#include <cmath>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/tests/wrong/transformer.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"

// Each mistake with Ulysses that the README warns of, as a wrong solution, and the case that catches it.
namespace lab::a9 {
namespace {

TEST_CASE("right: the variant without a mistake, Ulysses") {
  CHECK(passes("Ulysses", call_of(Ulysses())));
  CHECK(passes("Ulysses8", call_of(Ulysses())));
}

TEST_CASE("wrong: attention over this rank's own positions") {
  Ulysses wrong;
  wrong.there = wrong.back = [](const at::Tensor& x, Communicator&) { return x; };
  CHECK(differs("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: heads are joined where positions should be, under the right shape") {
  // Parts arrive side by side along the heads and are only then called positions.
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    const at::Tensor all = my_all_to_all(x.detach(), 2, 2, comm.point_to_point());
    return all.reshape({x.size(0), x.size(1) * comm.size(), x.size(2) / comm.size(), x.size(3)});
  };
  CHECK(differs("Ulysses", call_of(wrong)));
  CHECK(differs("Ulysses8", call_of(wrong)));
}

TEST_CASE("wrong: the context comes back with its dimensions as on the way there") {
  Ulysses wrong;
  wrong.back = wrong.there;
  CHECK(testing::contains(block_verdict("Ulysses8", call_of(wrong)),
                          "expected dimension 2 of [3, 8, 2, 3] to divide by 4 ranks, got 2"));
  CHECK(differs("Ulysses8", call_of(wrong), 2));
}

TEST_CASE("wrong: the context comes back with heads and positions mixed up") {
  Ulysses wrong;
  wrong.back = [](const at::Tensor& x, Communicator& comm) {
    return my_all_to_all(x.detach().transpose(1, 2), 2, 1, comm.point_to_point());  // [B, H, S/P, K]
  };
  CHECK(differs("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: what arrives is joined in the order of the neighbour on the left") {
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    return all_to_all_parallel(x, 2, 1, comm).roll({x.size(1)}, {1});
  };
  CHECK(differs("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: scores over sqrt(d_model), in Ulysses") {
  Ulysses wrong;
  wrong.scale = 1 / std::sqrt(8.0);  // 8 heads: sqrt(K) / sqrt(D)
  CHECK(differs("Ulysses8", call_of(wrong)));
}

TEST_CASE("wrong: only rank 0 has the result, in Ulysses; or every rank has rank 0's part") {
  for (const bool zeros : {true, false}) {
    CHECK(differs("Ulysses", [&](Communicator& comm, const CaseInputs& inputs) {
      const Block block = block_of(inputs);
      const at::Tensor out = block.forward_ulysses(inputs.tensor("input.x_shard"), comm).detach();
      const at::Tensor first = my_broadcast(out.clone(), 0, comm.point_to_point());
      return ulysses_results(block, inputs, zeros && comm.rank() != 0 ? at::zeros_like(out) : first);
    }));
  }
}

TEST_CASE("wrong: the built-in all-to-all in place of my_all_to_all; right numbers, but over its bound") {
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    std::vector<at::Tensor> parts;
    std::vector<std::vector<std::int64_t>> shapes;
    for (const at::Tensor& chunk : x.detach().chunk(comm.size(), 2)) {
      parts.push_back(chunk.contiguous());
      shapes.push_back(chunk.sizes().vec());
    }
    return at::cat(comm.collectives().all_to_all(parts, shapes), 1);
  };
  CHECK(is_over_budget("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: keys and values are gathered on every rank; right numbers, but over its bound, or without messages") {
  for (const bool built_in : {true, false}) {
    Ulysses wrong;
    wrong.there = wrong.back = [](const at::Tensor& x, Communicator&) { return x; };
    wrong.keys_there = [built_in](const at::Tensor& x, Communicator& comm) {
      const at::Tensor rows = x.detach().transpose(0, 1).contiguous();
      const at::Tensor all =
          built_in ? at::cat(comm.collectives().all_gather(rows)) : my_allgather(rows, comm.point_to_point());
      return all.transpose(0, 1);
    };
    CHECK(is_over_budget("Ulysses", call_of(wrong)));
  }
}

TEST_CASE("wrong: the shard of x is changed, or a weight, whatever is returned") {
  Ulysses in_place;
  in_place.residual_in_place = true;
  const TaskCall scales_weight = [](Communicator& comm, const CaseInputs& inputs) {
    const Block block = block_of(inputs);
    Ulysses halves;
    halves.scale = 0.5;
    const c10::NoGradGuard no_grad;
    block.q_proj.mul_(2);  // instead of the scores
    return ulysses_results(block, inputs, halves.forward(block, inputs.tensor("input.x_shard"), comm));
  };
  for (const char* name : {"Ulysses", "Ulysses8"}) {
    CHECK(differs(name, call_of(in_place)));
    CHECK(differs(name, scales_weight));
  }
}

TEST_CASE("wrong: parts out of order where the number of ranks is odd, or more than four") {
  const auto rolled_on = [](const std::function<bool(int size)>& is_wrong) {
    Ulysses wrong;
    wrong.there = [is_wrong](const at::Tensor& x, Communicator& comm) {
      const at::Tensor all = all_to_all_parallel(x, 2, 1, comm);
      return is_wrong(comm.size()) && comm.size() > 1 ? all.roll({x.size(1)}, {1}) : all;
    };
    wrong.keys_there = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 2, 1, comm); };
    return call_of(wrong);
  };
  const TaskCall odd = rolled_on([](int size) { return size % 2 == 1; });
  const TaskCall many = rolled_on([](int size) { return size > 4; });
  for (const int size : {1, 2, 4}) {
    CHECK(passes("Ulysses8", odd, size));
    CHECK(passes("Ulysses8", many, size));
  }
  for (const int size : {3, 5, 7}) CHECK(differs("Ulysses8", odd, size));
  for (const int size : {5, 6, 8}) CHECK(differs("Ulysses8", many, size));
}

}  // namespace
}  // namespace lab::a9
