#pragma once

#include <array>
#include <cstddef>

namespace lab {

/// What a rank did with a case.
enum class CaseEnd { kReturned, kThrew, kNotImplemented, kNothing, kNotAsked };

/// What something is worth: a rank's part of a case, a case, a task, an item of the marks. What is worth less comes first.
enum class Worth {
  kNotRun,
  kNotImplemented,
  kFailed,
  kTooExpensive,
  kSkipped,    ///< there was nothing to pass
  kPartly,     ///< some of its marks
  kAsChecked,  ///< of a task: what its checks are worth
  kNotJudged,  ///< the machine kept it from being judged, or somebody has to look first: no marks yet
  kPending,    ///< waits for a person's marks
  kPassed
};

/// By value.
inline constexpr std::array<const char*, 10> kWorthNames = {"not run", "not implemented", "failed", "too expensive",
                                                            "skipped", "partly",          "judged", "not judged",
                                                            "pending", "passed"};

inline const char* get_name(Worth worth) {
  return kWorthNames[static_cast<std::size_t>(worth)];
}

}  // namespace lab
