#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/lab/case.h"
#include "common/lab/verdict.h"
#include "grading/judge/case_world.h"

namespace lab::grading {

/// One task on one world size.
struct TaskRun {
  std::vector<CaseVerdict> verdicts;  ///< of its cases, in order
  std::string sentence;               ///< why its world failed; empty: it did not
  bool deadlocked = false;
};

/// What the runs of one program have in common.
struct TaskRunner {
  const Sandbox& sandbox;
  const std::vector<Case>& cases;  ///< of the whole lab
  std::string program;
  std::uint64_t seed = 42;
  double stall_seconds = 10;

  /// Runs the tasks on so many ranks, together where nothing goes wrong and alone where something does.
  std::map<std::string, TaskRun> run(int num_ranks, const std::vector<std::string>& tasks) const;

 private:
  CaseWorld world(int num_ranks, const std::vector<std::string>& tasks) const;
  bool is_complete(const CaseWorld& world, const std::string& task, int num_ranks) const;
  TaskRun judged(const CaseWorld& world, const std::string& task, int num_ranks) const;
};

}  // namespace lab::grading
