#pragma once

#include <map>
#include <set>
#include <string>

#include "common/base/json.h"
#include "common/course/hand_in/identity.h"
#include "grading/submission/submission.h"

namespace lab {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Identity, name, id)

}  // namespace lab

namespace lab::grading {

/// What grading many hand-ins needs to know of one before it is graded. Small, whatever is in the hand-in.
struct ScannedHandIn {
  std::string problem;                          ///< why nothing of it can be graded; empty: it can
  Identity identity;                            ///< that it says it has
  std::map<std::string, std::string> versions;  ///< lab -> a hash of all that was handed in for it
  std::map<std::string, std::string> codes;     ///< lab -> a hash of what is judged of that: the student's code
  std::set<std::string> with_code;              ///< labs of which it has code, and not only answers
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScannedHandIn, problem, identity, versions, codes, with_code)

ScannedHandIn scan(const Submission& submission);

}  // namespace lab::grading
