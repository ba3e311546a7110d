#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/api/tensor_map.h"
#include "common/base/costs.h"
#include "common/base/worth.h"

namespace lab {

/// What one rank reports about one case: what the task returned there, not whether it is right.
struct CaseRecord {
  std::string task;                  ///< "a9.broadcast"
  std::string name;                  ///< the case: "BroadcastFromLast"
  int call = 1;                      ///< which one of the case's calls
  CaseEnd end = CaseEnd::kReturned;  ///< that, kThrew or kNotImplemented
  std::string message;               ///< what was thrown
  int exit_code = 0;                 ///< of what was thrown
  std::string missing_task;          ///< kNotImplemented: the id in not_implemented(), such as "a9.allreduce"
  TensorMap results;                 ///< undefined tensors stay undefined; on the CPU
  std::vector<LedgerEntry> spent;    ///< during the case, by operation
  ResourceUse used;                  ///< the rank's own count
  SeenUse seen;                      ///< filled in by a judge; not part of the record's text
};

/// As one file of safetensors; its message is cut to 4000 characters.
/// Errors    UsageError: a dtype that safetensors does not have
std::string bytes_of_record(const CaseRecord& record);

/// Parses bytes that bytes_of_record() or untrusted code wrote; each text becomes a single line.
/// Errors    UsageError: they are not a record: a field is missing, unknown, or of the wrong type
CaseRecord record_from_bytes(const std::string& bytes);

}  // namespace lab
