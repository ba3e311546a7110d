#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/checks/tests/small_lab.h"

namespace lab::testing {

/// A wrong solution and the symptom that it must show.
struct WrongSolution {
  std::string symptom;
  SmallTask task;
  TaskCall call;
  std::vector<int> sizes = {3, 4};
};

/// At least one for each symptom.
std::vector<WrongSolution> wrong_solutions();

/// Every result of the task done right, changed in the same way.
TaskCall all_changed(const SmallTask& task, const std::function<at::Tensor(Communicator&, const at::Tensor&)>& change);

}  // namespace lab::testing
