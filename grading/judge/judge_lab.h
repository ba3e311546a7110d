#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/course/rubric.h"
#include "grading/judge/lab_table.h"
#include "grading/judge/sandbox.h"
#include "grading/judge/student_build.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

struct JudgeOrder {
  std::uint64_t seed = 42;
  std::string only_task;  ///< empty: all
};

/// Builds a submission's files, runs every task of the rubric on each of its world sizes, and judges what comes back.
/// Tasks share a world as long as nothing goes wrong in it; where something does, the task that did not get through is
/// run again in a world of its own, and so is whatever ran before it if it is right there. A task that fails on one
/// size is not run on the next. What no complete record speaks for stays "not run".
/// Errors    UsageError: the suite's own build is not there; what the cases' own functions throw
LabOutcome judge_lab(const JudgedLab& lab, const Rubric& rubric, const StudentBuilder& builder, const Sandbox& sandbox,
                     const std::map<std::string, std::string>& texts, const JudgeOrder& order);

}  // namespace lab::grading
