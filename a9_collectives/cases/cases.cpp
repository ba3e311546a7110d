#include "a9_collectives/cases/cases.h"

namespace lab::a9 {
std::vector<Section> sections() {
  return {{"Task 1: collectives made of send and recv.", collective_cases()},
          {"Beyond the handout: better algorithms, held to their rounds and bytes.", algorithm_cases()},
          {"Task 2: a Transformer block, tensor parallel and sequence parallel.", transformer_cases()},
          {"Beyond the handout: gradients.", transformer_gradient_cases()}};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = list_cases(sections());
  for (const std::vector<Case>& further :
       {further_collective_cases(), strided_algorithm_cases(), subgroup_cases(), unprinted_function_cases()})
    cases.insert(cases.end(), further.begin(), further.end());
  // Long tensors in many segments; on further numbers of ranks, these algorithms have short ones.
  return with_costly(cases, {"BroadcastChain", "BroadcastChainStrided", "BroadcastLarge", "AllReduceRingSegmented",
                             "AllReduceRingSegmentedStrided"});
}

std::vector<LabStep> program_steps() {
  return {announcement(), checks(sections()), done()};
}

GradedLab graded_lab() {
  return {all_cases};
}

}  // namespace lab::a9
