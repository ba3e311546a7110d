#include "grading/judge/weak_checks.h"

#include "common/testing/test.h"

namespace lab::grading {
namespace {

using State = CheckOutcome::State;

constexpr char kTask[] = "x.sum";

Case case_of(const std::string& name) {
  Case test_case;
  test_case.task = kTask;
  test_case.name = name;
  return test_case;
}

/// One check on all sizes, one on 4 ranks only, and one that asks for no work.
std::vector<Case> three_cases() {
  std::vector<Case> cases = {case_of("Small"), case_of("Long"), case_of("Empty")};
  cases[1].skip_reason = [](int size) { return size == 4 ? "" : "on 4 ranks only"; };
  cases[2].earns_alone = false;
  return cases;
}

const std::map<char, State> kStates = {{'P', State::kPassed},
                                       {'F', State::kFailed},
                                       {'E', State::kTooExpensive},
                                       {'S', State::kSkipped},
                                       {'?', State::kNotJudged}};

/// The states of Small, Long and Empty afterwards, a letter each.
std::string after(const std::string& before, const CheckedSizes& sizes = {}) {
  const std::vector<Case> cases = three_cases();
  std::map<std::string, TaskOutcome> outcomes;
  outcomes[kTask].state = TaskOutcome::State::kJudged;
  for (std::size_t i = 0; i < before.size(); ++i)
    outcomes[kTask].checks.push_back(CheckOutcome{cases[i].name, kStates.at(before[i]), "", ""});
  take_back_weak(cases, sizes, outcomes);
  std::string states;
  for (const CheckOutcome& check : outcomes[kTask].checks) {
    for (const auto& [letter, state] : kStates)
      if (state == check.state) states += letter;
  }
  return states;
}

TEST_CASE("a check on one number of ranks, or one that asks for no work, counts only if a stronger one is right") {
  CHECK(after("PPP") == "PPP");
  CHECK(after("PFP") == "PFP");
  CHECK(after("FPP") == "FFF");
  CHECK(after("FFP") == "FFF");
}

TEST_CASE("a check that may still pass keeps the weaker ones; what did not pass stays as it is") {
  CHECK(after("?PP") == "?PP");
  CHECK(after("EES") == "EES");
}

TEST_CASE("where all is judged on one size, that is enough") {
  CHECK(after("FPP", {{4}, {}}) == "FPP");
}

}  // namespace
}  // namespace lab::grading
