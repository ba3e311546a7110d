#include "common/course/rubric/rubric.h"

#include <algorithm>
#include <set>

namespace lab {

const RubricTask* Rubric::find_task(const std::string& id) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const RubricTask& task) { return task.id == id; });
  return found == tasks.end() ? nullptr : &*found;
}

std::vector<std::string> Rubric::dependents_of(const std::string& task) const {
  // Tasks may be in any order, so this repeats until nothing is added.
  std::set<std::string> found = {task};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const RubricTask& other : tasks) {
      const bool builds_on_it = std::any_of(other.needs.begin(), other.needs.end(),
                                            [&](const std::string& need) { return found.count(need) != 0; });
      if (builds_on_it) found.insert(other.id);
    }
  }
  std::vector<std::string> dependents;
  for (const RubricTask& other : tasks) {
    if (other.id != task && found.count(other.id) != 0) dependents.push_back(other.id);
  }
  return dependents;
}

}  // namespace lab
