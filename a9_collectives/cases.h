#pragma once

#include <string>
#include <vector>

#include "common/lab/case.h"

namespace lab::a9 {

/// Cases that are printed under one sentence.
struct Section {
  std::string sentence;
  std::vector<Case> cases;
};

/// Everything that the lab checks, in the order of its log.
std::vector<Section> sections();

/// The cases of all sections.
std::vector<Case> all_cases();

}  // namespace lab::a9
