#include "a4_data_tensor/cases/bounds.h"
#include "a4_data_tensor/cases/cases.h"

namespace lab::a4 {
namespace {

/// Nothing is as in the handout, and all that is split divides by any number of ranks.
LabSizes other_sizes(int num_ranks) {
  LabSizes sizes;
  sizes.step.global_batch_size = 12 * num_ranks;
  sizes.step.input_dim = 10 * num_ranks;
  sizes.step.output_dim = 6 * num_ranks;
  sizes.step.learning_rate = 0.375;
  sizes.accumulation_steps = 6;
  sizes.random_layers = true;
  return sizes;
}

LabSizes exact_sizes(int num_ranks) {
  LabSizes sizes = other_sizes(num_ranks);
  sizes.random_layers = false;
  return sizes;
}

/// A batch that outweighs the weight by far.
LabSizes tall(int num_ranks) {
  LabSizes sizes;
  sizes.step.global_batch_size = 256 * num_ranks;
  sizes.step.input_dim = 16;
  sizes.step.output_dim = 2;
  return sizes;
}

/// A weight that outweighs what goes through it by far.
LabSizes wide(int num_ranks) {
  LabSizes sizes;
  sizes.step.input_dim = sizes.step.output_dim = 64 * num_ranks;
  sizes.layer_batch = 2;
  return sizes;
}

/// Work that takes long against messages, on any number of ranks.
LabSizes long_work(int num_ranks) {
  LabSizes sizes;
  const std::int64_t size = (320 + num_ranks - 1) / num_ranks * num_ranks;
  sizes.step.global_batch_size = sizes.step.input_dim = sizes.step.output_dim = sizes.layer_batch = size;
  return sizes;
}

std::vector<Case> renamed(std::vector<Case> cases, const std::string& suffix) {
  for (Case& test_case : cases) {
    test_case.name += suffix;
    test_case.prefix = test_case.name;
  }
  return cases;
}

/// Targets and activations that outweigh the inputs and the weight by far, in many micro-batches.
LabSizes deep(int) {
  LabSizes sizes;
  sizes.step.global_batch_size = 512;
  sizes.step.input_dim = 4;
  sizes.step.output_dim = 32;
  sizes.accumulation_steps = 16;
  return sizes;
}

/// One that shows whether gradients are accumulated, or the whole batch goes through at once.
Case accumulation_memory_case() {
  Case result = cases_of_task(renamed(handout_cases_for(deep), "Deep"), "a4.accumulation").front();
  result.memory = accumulation_memory(deep);
  result.work = accumulation_work(deep);
  return result;
}

/// Those that show whether a rank holds more than its share.
std::vector<Case> memory_cases() {
  std::vector<Case> cases;
  for (const Case& test_case : renamed(handout_cases_for(tall), "Tall")) {
    if (test_case.task == "a4.data_parallel") cases.push_back(test_case);
  }
  for (const Case& test_case : renamed(layer_cases_for(wide), "Wide")) {
    if (test_case.name != "BiasWide") cases.push_back(test_case);
  }
  return cases;
}

/// Those that show whether ranks compute at the same time, or in turns.
std::vector<Case> time_cases() {
  std::vector<Case> cases;
  for (const std::vector<Case>& more : {handout_cases_for(long_work), layer_cases_for(long_work)}) {
    for (Case test_case : renamed(more, "Long")) {
      if (!test_case.work || test_case.name == "BiasLong") continue;
      test_case.time = time_of_own_part(test_case);
      cases.push_back(test_case);
    }
  }
  return cases;
}

}  // namespace

std::vector<Case> unprinted_cases() {
  std::vector<Case> cases = {accumulation_memory_case()};
  for (const std::vector<Case>& more :
       {unprinted_function_cases(), renamed(handout_cases_for(other_sizes), "OtherSizes"),
        renamed(layer_cases_for(other_sizes), "OtherSizes"), renamed(twice_cases_for(exact_sizes), "Twice"),
        memory_cases(), time_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace lab::a4
