#include "common/checks/symptoms/symptom.h"

#include <set>

#include "common/checks/tests/small_lab.h"
#include "common/checks/tests/wrong_solutions.h"
#include "common/testing/get_message.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

TEST_CASE("each wrong solution shows its symptom and no other, whatever the number of ranks") {
  for (const WrongSolution& wrong : wrong_solutions()) {
    for (const int size : wrong.sizes) {
      CAPTURE(wrong.symptom);
      CAPTURE(size);
      const CaseVerdict verdict = judged(wrong.task.test_case, wrong.call, size);
      CAPTURE(verdict.message());
      CHECK_FALSE(verdict.passed());
      CHECK(verdict.symptom.id == wrong.symptom);
    }
  }
}

TEST_CASE("of a collective that only some ranks call the message names it") {
  const CaseVerdict verdict = judged(
      sum_task().test_case,
      [](Communicator& comm, const CaseInputs& inputs) {
        const at::Tensor sum = comm.rank() == 0 ? summed(comm, read_x(inputs)) : read_x(inputs);
        return TensorMap{{"out", sum}, {"x", sum}};
      },
      3);
  CHECK_MESSAGE(contains(verdict.message(), "all_reduce is called by some ranks only"), verdict.message());
}

TEST_CASE(
    "of equal sizes of a case each may be the one that a result was divided by; a number of micro-batches is it") {
  const auto message_with = [](double size) {
    Case test_case = count_task().test_case;
    test_case.inputs = [inputs = test_case.inputs, size](const CasePlace& place) {
      CaseInputs more = inputs(place);  // 5 micro-batches
      more.numbers["height"] = more.numbers["width"] = size;
      return more;
    };
    const TaskCall wrong = [size](Communicator& comm, const CaseInputs& inputs) {
      TensorMap results = count_task().right(comm, inputs);
      results.at("W.grad") = results.at("W.grad") / size;
      return results;
    };
    return judged(test_case, wrong, 2).message();
  };
  CHECK_MESSAGE(contains(message_with(5), "divided by micro_batches (5)"), message_with(5));
  CHECK_MESSAGE(contains(message_with(7), "divided by height or width (7)"), message_with(7));
}

TEST_CASE("every symptom there is has a wrong solution here") {
  std::set<std::string> shown;
  for (const WrongSolution& wrong : wrong_solutions()) shown.insert(wrong.symptom);
  for (const std::string& id : symptom_ids()) {
    CAPTURE(id);
    CHECK(shown.count(id) == 1);
  }
  CHECK(shown.size() == symptom_ids().size());
}

TEST_CASE("right solutions pass, on one rank, too, and show no symptom") {
  for (const SmallTask& task : {sum_task(), product_task(), gather_task(), scatter_task(), row_task(), update_task(),
                                count_task(), stencil_task()}) {
    for (const int size : {1, 2, 3, 4}) {
      CAPTURE(task.test_case.name);
      CAPTURE(size);
      const CaseVerdict verdict = judged(task.test_case, task.right, size);
      CHECK(verdict.passed());
      CHECK(verdict.message().empty());
      CHECK(verdict.symptom.id.empty());
    }
  }
}

TEST_CASE("a result that is wrong in no known way shows no symptom") {
  const SmallTask sum = sum_task();
  const TaskCall odd = all_changed(sum, [](Communicator&, const at::Tensor& t) { return t.sin(); });
  CHECK(judged(sum.test_case, odd, 4).symptom.id.empty());
  const TaskCall one_element = all_changed(sum, [](Communicator&, const at::Tensor& t) {
    const at::Tensor copy = t.clone();
    copy[5][1] += 1;
    return copy;
  });
  CHECK(judged(sum.test_case, one_element, 4).symptom.id.empty());
}

TEST_CASE("a case's own known_mistakes are asked first, and only believed where they explain every rank") {
  SmallTask sum = sum_task();
  const auto expected = sum.test_case.expected;
  sum.test_case.known_mistakes = {{"tripled", "the sum was made three times", [expected](const CasePlace& place) {
                                     TensorMap wrong = expected(place);
                                     for (auto& [name, tensor] : wrong) tensor = tensor * 3;
                                     return wrong;
                                   }}};
  const TaskCall tripled = all_changed(sum, [](Communicator&, const at::Tensor& t) { return t * 3; });
  const CaseVerdict verdict = judged(sum.test_case, tripled, 3);
  CHECK(verdict.symptom.id == "tripled");  // not times_world_size, which fits as well
  CHECK(verdict.symptom.message == "the sum was made three times");
  const TaskCall on_one =
      all_changed(sum, [](Communicator& comm, const at::Tensor& t) { return comm.rank() == 1 ? t * 3 : t.cos(); });
  CHECK(judged(sum.test_case, on_one, 4).symptom.id.empty());
}

TEST_CASE("a count of 1 in place of 5 is not called divided by 4 ranks or by 5 micro-batches") {
  Case test_case = count_task().test_case;
  test_case.only_rank_zero = false;
  test_case.expected = [](const CasePlace&) { return TensorMap{{"number_of_outputs", at::full({1}, 5, at::kLong)}}; };
  const auto only_one = [](Communicator&, const CaseInputs&) {
    return TensorMap{{"number_of_outputs", at::ones({1}, at::kLong)}};
  };
  const CaseVerdict verdict = judged(test_case, only_one, 4);
  CHECK_FALSE(verdict.passed());
  CHECK(verdict.symptom.id.empty());
}

TEST_CASE("integers that no float64 holds are told apart") {
  Case test_case = sum_task().test_case;
  test_case.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors["input.x"] = at::arange(6, at::kLong) + (std::int64_t{1} << 57) + place.rank;
    return inputs;
  };
  test_case.expected = [](const CasePlace& place) {
    at::Tensor sum = at::zeros({6}, at::kLong);
    for (int rank = 0; rank < place.size; ++rank) sum += at::arange(6, at::kLong) + (std::int64_t{1} << 57) + rank;
    return TensorMap{{"out", sum}};
  };
  const auto through_double = [](Communicator& comm, const CaseInputs& inputs) {
    return TensorMap{{"out", summed(comm, read_x(inputs).to(at::kDouble)).to(at::kLong)}};
  };
  CHECK(judged(test_case, through_double, 3).symptom.id == "rounding_only");
  const auto halved = [](Communicator& comm, const CaseInputs& inputs) {
    return TensorMap{{"out", summed(comm, read_x(inputs)).floor_divide(comm.size())}};
  };
  CHECK(judged(test_case, halved, 4).symptom.id == "divided_by_world_size");
}

}  // namespace
}  // namespace lab::testing
