#include "grading/batch/judging_part.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace lab::grading {

std::string judging_part(const Rubric& rubric) {
  nlohmann::json tasks = nlohmann::json::array();
  for (const RubricTask& task : rubric.tasks)
    tasks.push_back({task.id, task.file, task.needs, task.stand_in, task.judges_cost});
  const RubricJudging& judging = rubric.judging;
  return nlohmann::json({tasks, judging.ranks.value_or(std::vector<int>()),
                         judging.cheap_ranks.value_or(std::vector<int>()), judging.stall_seconds,
                         judging.budget_seconds, rubric.hand_in.sources, rubric.hand_in.answers})
      .dump();
}

}  // namespace lab::grading
