#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/course/rubric/rubric.h"
#include "grading/compile/student_build.h"
#include "grading/judge/judging_place.h"
#include "grading/marks/lab_outcome.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {

struct GradeOptions {
  std::uint64_t seed = 42;
  std::string only_task;        ///< empty: all
  bool believes_ranks = false;  ///< what they count of their own work and memory, whatever was seen (claims.h)
};

/// Builds a submission's files, runs every task of the rubric on each of its world sizes, and judges what comes back by
/// the rules (rules.h). Checks share a world as long as nothing goes wrong in it, and each is judged by a world that no
/// other check has harmed (CheckRunner). A check that fails on one size is not run on the next.
/// Errors    UsageError: the suite's own build is not there; what the cases' own functions throw
LabOutcome judge_lab(const JudgedLab& lab, const Rubric& rubric, const StudentBuilder& builder, const Sandbox& sandbox,
                     const std::map<std::string, std::string>& submitted, const GradeOptions& options);

}  // namespace lab::grading
