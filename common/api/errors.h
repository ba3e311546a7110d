#pragma once

#include <stdexcept>
#include <string>

// How a program fails: each failure has one clear message and an exit code. Student code throws ContractError where it
// is called wrongly, and not_implemented() stands where a task is still to do.
namespace lab {

/// Exit codes of every program in the suite; listed in the README's table of exit codes.
enum class ExitCode : int {
  kAllMatch = 0,
  kMismatch = 1,
  kUsage = 2,
  kNotImplemented = 3,
  kContract = 4,
  kCommunication = 5,
  kDeadlock = 6,
  kStudentCode = 7,  ///< student code, or LibTorch called by it, threw an exception
  kNotJudged = 8,    ///< the grader could not judge: neither passed nor failed
  kInternal = 70,
};

/// A failure that a user can act on: one clear message (what, where, expected, got, hint) and its exit code.
class Error : public std::runtime_error {
 public:
  Error(ExitCode exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  ExitCode exit_code() const { return exit_code_; }

 private:
  ExitCode exit_code_;
};

/// Invalid options, environment or input files.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// An unimplemented task was reached.
class NotImplementedError : public Error {
 public:
  explicit NotImplementedError(const std::string& task_id);
  const std::string& task_id() const { return task_id_; }

 private:
  std::string task_id_;
};

/// Two sides, or a caller and a callee, disagree on shape, dtype, size or operation.
struct ContractError : Error {
  explicit ContractError(const std::string& message) : Error(ExitCode::kContract, message) {}
};

/// A peer failed, died, or did not answer in time.
struct CommError : Error {
  explicit CommError(const std::string& message) : Error(ExitCode::kCommunication, message) {}
};

/// Ranks wait for each other, or for a rank that has already returned.
struct DeadlockError : Error {
  explicit DeadlockError(const std::string& message) : Error(ExitCode::kDeadlock, message) {}
};

/// Throws the error type for the exit code; used to rethrow a failure reported by another process.
[[noreturn]] void raise(ExitCode exit_code, const std::string& message);

[[noreturn]] void throw_not_implemented(const std::string& task_id);

/// Called by stubs: ends the rank with exit code 3 and the task's id. Takes the stub's arguments so that a starter
/// compiles without unused-parameter warnings.
template <typename... Unused>
[[noreturn]] void not_implemented(const std::string& task_id, const Unused&...) {
  throw_not_implemented(task_id);
}

}  // namespace lab
