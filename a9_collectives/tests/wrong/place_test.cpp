#include <fmt/format.h>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/reduce_scatter.h"
#include "a9_collectives/tests/wrong/collective.h"
#include "common/testing/test.h"

// Right numbers in the wrong place: a copy where the contract says in place, the argument where it says new; and what
// is unusual, but right.
namespace lab::a9 {
namespace {

using testing::contains;

/// The error that ends the run is this one.
void check_refused(const std::string& case_name, const OnTensor& function, const std::string& sentence, int size = 4) {
  INFO(case_name << " on " << size << " ranks: " << sentence);
  const std::string found = result_verdict(case_name, function, size);
  CAPTURE(found);
  CHECK(contains(found, fmt::format(" [{}]: {}", case_name, sentence)));
}

constexpr const char* kAnotherTensor =
    "returns another tensor than its argument, expected the argument itself: it works in place";
constexpr const char* kArgument = "returns its argument, or a view of it, expected a new tensor";

TEST_CASE("wrong: the result is returned and the argument left as it was") {
  const OnTensor broadcast = [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    return broadcast_flat(x.clone(), src_rank_of(inputs), p2p);
  };
  const OnTensor allreduce = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return allreduce_gather_broadcast(x.clone(), p2p);
  };
  check_refused("Broadcast", broadcast, kAnotherTensor);
  check_refused("AllReduce", allreduce, kAnotherTensor);
  check_refused("AllReduceEmpty", allreduce, kAnotherTensor);
}

TEST_CASE("wrong: the result is a copy of an argument that is right, too") {
  check_refused(
      "AllReduce", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) { return my_allreduce(x, p2p).clone(); },
      kAnotherTensor, 1);
}

TEST_CASE("wrong: on one rank the argument is returned where a new tensor is expected") {
  const auto unless_alone = [](const OnTensor& function) -> OnTensor {
    return [function](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
      return p2p.size() == 1 ? x : function(x, p2p, inputs);
    };
  };
  check_refused("AllGather", unless_alone(claims(my_allgather)), kArgument, 1);
  check_refused("ReduceScatterSlice", unless_alone(claims(my_reduce_scatter)), kArgument, 1);
  check_refused(
      "AllToAll", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) { return x.chunk(p2p.size(), 0)[0]; },
      kArgument, 1);
  CHECK(result_verdict("AllGather", unless_alone(claims(my_allgather)), 4) == "passed");
}

TEST_CASE("wrong: an all-to-all that returns a transposed tensor") {
  check_refused(
      "AllToAllHeads",
      [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
        const at::Tensor out = my_all_to_all(x, inputs.integer("scatter_dim"), inputs.integer("gather_dim"), p2p);
        return out.transpose(0, 1).contiguous().transpose(0, 1);
      },
      "returns a tensor that is not contiguous, expected a contiguous one");
}

TEST_CASE("wrong: nothing is returned") {
  const auto reason_of = [](const std::string& case_name, const OnTensor& function) {
    for (const Case& test_case : cases_of_collectives()) {
      if (test_case.name == case_name) return testing::judged(test_case, call_of(case_name, function), 4).reason;
    }
    return std::string("unknown case");
  };
  CHECK(reason_of("AllReduce", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
          my_allreduce(x, p2p);
          return at::Tensor();
        }) == "rank 0, result 'out' is undefined, expected float32 [1]");
  CHECK(reason_of("AllGather", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
          const at::Tensor all = my_allgather(x, p2p);
          return p2p.rank() == 2 ? at::Tensor() : all;
        }) == "rank 2, result 'out' is undefined, expected float32 [8]");
}

TEST_CASE("right: unusual results that the contracts allow") {
  const OnTensor view = [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    return my_broadcast(x, src_rank_of(inputs), p2p).view_as(x);
  };
  const OnTensor another_view = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return my_allreduce(x, p2p).transpose(0, -1).transpose(0, -1);
  };
  const OnTensor clone_if_alone = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return p2p.size() == 1 ? x.clone() : my_allgather(x, p2p);
  };
  // Strides are promised of an all-to-all only, and a result may be a part of something larger.
  const OnTensor other_strides = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return my_allgather(x, p2p).transpose(0, -1).contiguous().transpose(0, -1);
  };
  const OnTensor part_of_the_sum = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    const at::Tensor sum = my_allreduce(x.clone(), p2p);
    return sum.chunk(p2p.size(), 0)[static_cast<std::size_t>(p2p.rank())];
  };
  for (const int size : {1, 3, 4}) {
    CAPTURE(size);
    CHECK(result_verdict("Broadcast", view, size) == "passed");
    CHECK(result_verdict("BroadcastStrided", view, size) == "passed");
    CHECK(result_verdict("AllReduceStrided", another_view, size) == "passed");
    CHECK(result_verdict("AllGather", clone_if_alone, size) == "passed");
    CHECK(result_verdict("AllGatherStrided", other_strides, size) == "passed");
    CHECK(result_verdict("ReduceScatterStrided", part_of_the_sum, size) == "passed");
  }
}

TEST_CASE("wrong: strides are ignored: a copy is filled and not given back") {
  const auto broadcast = [](bool returns_copy) -> OnTensor {
    return [returns_copy](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
      const at::Tensor copy = broadcast_flat(x.reshape({-1}), src_rank_of(inputs), p2p).view(x.sizes());
      return returns_copy ? copy : x;
    };
  };
  const auto allreduce = [](bool returns_copy) -> OnTensor {
    return [returns_copy](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
      const at::Tensor copy = allreduce_gather_broadcast(x.contiguous(), p2p);
      return returns_copy ? copy : x;
    };
  };
  CHECK(result_verdict("BroadcastStrided", broadcast(false)) == "mismatch");
  CHECK(result_verdict("AllReduceStrided", allreduce(false)) == "mismatch");
  check_refused("BroadcastStrided", broadcast(true), kAnotherTensor);
  check_refused("AllReduceStrided", allreduce(true), kAnotherTensor);
}

}  // namespace
}  // namespace lab::a9
