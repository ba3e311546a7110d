#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/files.h"

namespace lab {

/// What a process writes into a pipe, read while it runs.
class CapturedOutput {
 public:
  /// Makes the pipe. `max_bytes` are kept; the rest is counted and dropped.
  /// Errors    UsageError: the system refuses a pipe
  explicit CapturedOutput(std::size_t max_bytes);

  /// The end that the process inherits (close-on-exec here); close it once it has been passed on.
  UniqueFd& write_end() { return write_end_; }
  /// To be polled; -1 once all ends for writing are closed and everything is read.
  int read_end() const { return read_end_.get(); }
  /// Takes what is there, but not forever: a program that prints endlessly must not keep its reader from the clock.
  void read();

  const std::string& text() const { return text_; }
  std::uint64_t dropped_bytes() const { return dropped_; }

 private:
  std::size_t max_bytes_;
  UniqueFd read_end_, write_end_;
  std::string text_;
  std::uint64_t dropped_ = 0;
};

/// A pipe: the ends for reading and for writing, both close-on-exec.
/// Errors    UsageError: the system refuses it
std::pair<UniqueFd, UniqueFd> make_pipe();

}  // namespace lab
