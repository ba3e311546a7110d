#include <fmt/format.h>

#include "a4_data_tensor/cases/cases.h"
#include "common/base/text.h"

namespace lab::a4 {
namespace {

/// Nothing is as in the handout.
LabSizes other_sizes() {
  LabSizes sizes;
  sizes.step.global_batch_size = 48;
  sizes.step.input_dim = 40;
  sizes.step.output_dim = 24;
  sizes.step.learning_rate = 0.375;
  sizes.accumulation_steps = 6;
  return sizes;
}

/// Why the other sizes cannot be run, if the number of ranks does not divide all of them.
std::string all_divide(int num_ranks) {
  const StepOptions step = other_sizes().step;
  for (const std::int64_t size : {step.global_batch_size, step.input_dim, step.output_dim}) {
    if (size % num_ranks != 0) return fmt::format("{} does not divide by {} ranks", size, num_ranks);
  }
  return "";
}

}  // namespace

std::vector<Case> other_sizes_cases() {
  std::vector<Case> cases = handout_cases(other_sizes());
  for (const Case& test_case : further_cases(other_sizes())) {
    if (test_case.task != "a4.broadcast_parallel" && test_case.task != "a4.gather_parallel") cases.push_back(test_case);
  }
  for (Case& test_case : cases) {
    test_case.name += "OtherSizes";
    test_case.prefix = test_case.name;
    test_case.skip_reason = all_divide;
  }
  return cases;
}

}  // namespace lab::a4
