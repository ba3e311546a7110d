#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lab::cli {

struct ProgressOptions {
  std::string label;
  std::int64_t total = 0;  ///< total steps; 0: unknown, only counted
  int fd = 2;
  std::function<double()> clock = {};               ///< monotonic seconds; the steady clock when empty
  std::function<void(std::string_view)> sink = {};  ///< receives the output; fd when empty
  std::optional<bool> is_terminal = {};             ///< isatty(fd) when empty
};

/// Shows the progress of long work. Silent for the first 2 s. Then, on a terminal, one line that is redrawn (at most
/// ten times a second); elsewhere a plain line every 10 s without control characters. The destructor shows the last
/// state. One thread at a time; write failures are ignored.
/// Example   lab::Progress progress({"grading", 30});
///           for (...) { ...; progress.advance(1, name); }
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts n more steps as done; note says on what (cut to fit the line).
  void advance(std::int64_t n = 1, const std::string& note = "");

 private:
  void show(double now);
  std::string bar_line(double elapsed) const;
  std::string plain_line(double elapsed) const;

  ProgressOptions options_;
  double start_;
  double last_shown_;
  bool shown_ = false;
  std::int64_t done_ = 0;
  std::string note_;
};

}  // namespace lab::cli
