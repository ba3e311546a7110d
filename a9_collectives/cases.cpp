#include "a9_collectives/cases.h"

#include "a9_collectives/algorithm_cases.h"
#include "a9_collectives/collective_cases.h"
#include "a9_collectives/transformer_cases.h"

namespace lab::a9 {

std::vector<Section> sections() {
  return {{"Task 1: collectives made of send and recv.", collective_cases()},
          {"Beyond the handout: better algorithms, held to their rounds and bytes.", algorithm_cases()},
          {"Task 2: a Transformer block, tensor parallel and sequence parallel.", transformer_cases()},
          {"Beyond the handout: gradients.", transformer_gradient_cases()}};
}

std::vector<Case> all_cases() {
  return cases_of(sections());
}

}  // namespace lab::a9
