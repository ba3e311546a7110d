#pragma once

#include <string>

#include "common/rank/task_call.h"

namespace lab {

/// What the judge sends to a rank: a case to perform, and this rank's inputs. Nothing in it says what is expected.
struct Parcel {
  std::string task;  ///< "a9.broadcast"
  std::string name;  ///< the case: "BroadcastFromLast"
  CaseInputs inputs;
};

/// The parcel as one file of safetensors.
/// Errors    UsageError: a dtype that safetensors does not have
std::string bytes_of_parcel(const Parcel& parcel);

/// The reverse. The tensors are on the CPU and contiguous.
/// Errors    UsageError: these bytes are not a parcel
Parcel parcel_from_bytes(const std::string& bytes);

}  // namespace lab
