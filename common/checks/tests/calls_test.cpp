#include <array>

#include "common/checks/checked_sizes.h"
#include "common/checks/tests/small_lab.h"
#include "common/testing/get_message.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// A case is called twice, on ranks that live on in between.
namespace lab::testing {
namespace {

constexpr int kRanks = 3;

/// A variable of each rank's, as if each were a process.
template <typename T>
class Static {
 public:
  T& at(int rank) { return each_[static_cast<std::size_t>(rank)]; }
  T& of(Communicator& comm) { return at(comm.rank()); }

 private:
  std::array<T, kRanks> each_ = {};
};

CaseVerdict verdict_on_sum(const TaskCall& call) {
  const Case test_case = sum_task().test_case;
  launch::WorldSpec spec;
  spec.num_ranks = kRanks;
  return run_checks({test_case}, {{test_case.task, call}}, spec, 42).front();
}

/// The task's results; x is the argument, in which the sum stays.
TensorMap collect_results(Communicator& comm, const CaseInputs& inputs) {
  return sum_task().right(comm, inputs);
}

TEST_CASE("what is right twice passes, with the costs of the first call") {
  const CaseVerdict verdict = verdict_on_sum(collect_results);
  CHECK(verdict.passed());
  CHECK(verdict.call == 1);
  CHECK(verdict.symptom.id.empty());
}

TEST_CASE("what is right only once is told from what is always wrong") {
  Static<at::Tensor> bucket;
  const CaseVerdict adds_up = verdict_on_sum([&](Communicator& comm, const CaseInputs& inputs) {
    at::Tensor& kept = bucket.of(comm);
    const at::Tensor x = read_x(inputs);
    kept = kept.defined() ? kept + x : x.clone();
    x.copy_(summed(comm, kept));
    return TensorMap{{"out", x}, {"x", x}};
  });
  CHECK((adds_up.worth == Worth::kFailed));
  CHECK(adds_up.call == 2);
  CHECK(contains(adds_up.reason, "in call 2, rank 0, result 'out', element [0, 0]: expected "));
  CHECK(adds_up.symptom.id == "right_once");
  const CaseVerdict always = verdict_on_sum([](Communicator&, const CaseInputs& inputs) {
    const at::Tensor x = read_x(inputs).zero_();
    return TensorMap{{"out", x}, {"x", x}};
  });
  CHECK((always.worth == Worth::kFailed));
  CHECK(always.call == 1);
  CHECK(always.symptom.id == "zeros");
}

TEST_CASE("a second call that throws, or never ends, is a wrong one") {
  Static<int> calls;
  const CaseVerdict throws = verdict_on_sum([&](Communicator& comm, const CaseInputs& inputs) {
    if (++calls.of(comm) == 2 && comm.rank() == 1) throw std::runtime_error("the map has no such key");
    return collect_results(comm, inputs);
  });
  CHECK((throws.worth == Worth::kFailed));
  CHECK(contains(throws.failure, "call 2]: the map has no such key"));
  CHECK(throws.symptom.id == "right_once");
  Static<int> rounds;
  const CaseVerdict waits = verdict_on_sum([&](Communicator& comm, const CaseInputs& inputs) {
    if (++rounds.of(comm) == 2) comm.point_to_point().recv(at::zeros({1}), (comm.rank() + 1) % comm.size());
    return collect_results(comm, inputs);
  });
  CHECK((waits.worth == Worth::kFailed));
  CHECK(contains(waits.failure, "deadlock"));
  CHECK(waits.symptom.id == "right_once");
}

TEST_CASE("each call's results are tensors of its own, which no later call changes") {
  Static<at::Tensor> memory;
  const CaseVerdict shares = verdict_on_sum([&](Communicator& comm, const CaseInputs& inputs) {
    at::Tensor& out = memory.of(comm);
    const at::Tensor sum = summed(comm, read_x(inputs));
    if (!out.defined()) out = at::empty_like(sum);
    read_x(inputs).copy_(out.copy_(sum));
    return TensorMap{{"out", out}, {"x", read_x(inputs)}};
  });
  CHECK((shares.worth == Worth::kFailed));
  CHECK(contains(shares.failure, "the second call changes result 'out' of the first, expected results of its own"));
  Static<at::Tensor> part;
  const CaseVerdict same_memory = verdict_on_sum([&](Communicator& comm, const CaseInputs& inputs) {
    at::Tensor& both = part.of(comm);
    const at::Tensor sum = summed(comm, read_x(inputs));
    const bool first = !both.defined();
    if (first) both = at::zeros({2, sum.size(0), sum.size(1)}, sum.scalar_type());
    both[first ? 0 : 1].copy_(sum);
    read_x(inputs).copy_(sum);
    return TensorMap{{"out", both[first ? 0 : 1]}, {"x", read_x(inputs)}};
  });
  CHECK(contains(same_memory.failure, "result 'out' of the second call is in the memory of the first call's 'out'"));
  Static<at::Tensor> argument;
  const CaseVerdict changes = verdict_on_sum([&](Communicator& comm, const CaseInputs& inputs) {
    if (argument.of(comm).defined()) argument.of(comm).add_(1);
    argument.of(comm) = inputs.tensor("input.x");
    return collect_results(comm, inputs);
  });
  CHECK((changes.worth == Worth::kFailed));
  CHECK(contains(changes.failure, "the second call changes "));
}

TEST_CASE("a constant or a scratch tensor may live on; what each call adds may not") {
  const auto keeps = [](const std::function<void(Communicator&, const at::Tensor&)>& keep) {
    return verdict_on_sum([keep](Communicator& comm, const CaseInputs& inputs) {
      keep(comm, read_x(inputs));
      return collect_results(comm, inputs);
    });
  };
  Static<at::Tensor> constant, scratch, latest;
  CHECK(keeps([&](Communicator& comm, const at::Tensor&) {
          if (!constant.of(comm).defined()) constant.of(comm) = at::ones({1});
        }).passed());
  CHECK(keeps([&](Communicator& comm, const at::Tensor& x) { scratch.of(comm) = at::zeros_like(x); }).passed());
  CHECK(keeps([&](Communicator& comm, const at::Tensor& x) { latest.of(comm) = x; }).passed());
  Static<int> calls;
  Static<std::vector<at::Tensor>> from_the_second, all;
  CHECK(keeps([&](Communicator& comm, const at::Tensor&) {
          if (++calls.of(comm) == 2) from_the_second.of(comm).push_back(at::ones({1}));
        }).passed());  // the third adds nothing
  const CaseVerdict hoards =
      keeps([&](Communicator& comm, const at::Tensor&) { all.of(comm).push_back(at::zeros({4})); });
  CHECK((hoards.worth == Worth::kTooExpensive));
  CHECK(contains(hoards.reason, "in call 3, rank 0: leaves 16 bytes of tensors behind"));
  Case once = sum_task().test_case;
  once.once = "a whole training";
  Static<std::vector<at::Tensor>> of_training;
  const TaskCall trains = [&](Communicator& comm, const CaseInputs& inputs) {
    of_training.of(comm).push_back(at::zeros({4}));
    return collect_results(comm, inputs);
  };
  CHECK(recorded({once}, {{once.task, trains}}, kRanks).judged(once, 42).passed());
  CHECK(of_training.at(0).size() == 1);
}

TEST_CASE("a case is called twice on the first number of ranks on which it runs, and once on the others") {
  const CheckedSizes sizes{{4, 3}, {2}};
  const auto calls_on = [&](const Case& test_case) {
    std::vector<int> calls;
    for (const int size : sizes.all()) calls.push_back(num_calls(sizes.on(test_case, size)));
    return calls;
  };
  Case any, odd, training;
  odd.skip_reason = [](int size) { return size % 2 == 0 ? "an even number of ranks" : ""; };
  training.once = "a whole training";
  CHECK(calls_on(any) == std::vector<int>{2, 1, 1});
  CHECK(calls_on(odd) == std::vector<int>{2, 2, 1});  // on 4 it does not run
  CHECK(calls_on(training) == std::vector<int>{1, 1, 1});
}

TEST_CASE("a second call that sends more than the first is too expensive") {
  Case test_case = sum_task().test_case;
  test_case.bounds = {};
  Static<int> calls;
  const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
    for (int more = calls.of(comm)++; more > 0; --more) summed(comm, at::zeros({2}));
    return collect_results(comm, inputs);
  };
  const CaseVerdict verdict = judged(test_case, call, kRanks);
  CHECK((verdict.worth == Worth::kTooExpensive));
  CHECK(contains(verdict.reason, "calls of all_reduce, but 1 in the first call"));
  CHECK(verdict.symptom.id == "right_once");
}

}  // namespace
}  // namespace lab::testing
