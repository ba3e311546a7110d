#include "common/api/errors.h"

namespace lab {

NotImplementedError::NotImplementedError(const std::string& task_id)
    : Error(ExitCode::kNotImplemented, "task " + task_id + " is not implemented: its TODO was reached"),
      task_id_(task_id) {}

void throw_not_implemented(const std::string& task_id) {
  throw NotImplementedError(task_id);
}

void raise(ExitCode exit_code, const std::string& message) {
  switch (exit_code) {
    case ExitCode::kUsage: throw UsageError(message);
    case ExitCode::kContract: throw ContractError(message);
    case ExitCode::kCommunication: throw CommError(message);
    case ExitCode::kDeadlock: throw DeadlockError(message);
    default: throw Error(exit_code, message);
  }
}

}  // namespace lab
