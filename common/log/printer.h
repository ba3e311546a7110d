#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "common/api/errors.h"
#include "common/log/match_line.h"

namespace lab::log {

/// What a correct program prints. kDiffer: a comparison that must say False (a weight before and after its update).
enum class Expect { kMatch, kDiffer };

/// A match line and what it should say.
struct JudgedLine {
  MatchLine line;
  Expect expect = Expect::kMatch;
};

/// True if the line says what was expected; never for figures that are not finite.
bool as_expected(const JudgedLine& judged);

/// One line that a rank printed: text, a comparison, or a skipped check.
using PrintedLine = std::variant<std::string, JudgedLine, SkippedLine>;

struct PrinterOptions {
  int fd = 1;                             ///< where lines go; negative: nowhere, they are only remembered
  bool quiet = false;                     ///< drops text; match and skipped lines stay
  bool remember = true;                   ///< keep every line for lines(); off for long runs without a report
  std::shared_ptr<std::mutex> line_lock;  ///< shared by the printers of ranks that are threads; own lock when empty
};

/// One rank's output. Every line is written whole, in one write(2), so lines of ranks that share a descriptor never
/// interleave (between processes: up to PIPE_BUF, 4096 bytes; between threads: any length, given a shared line_lock).
/// Errors    UsageError: the descriptor is closed, its reader went away, or its disk is full
class Printer {
 public:
  explicit Printer(PrinterOptions options = {});

  /// Prints a line of text; newlines and other control characters inside become spaces. Dropped when quiet.
  void line(const std::string& text);

  /// Prints "[Rank r] text". Dropped when quiet.
  void text(int rank, const std::string& text);

  /// Prints a match line.
  void match(const MatchLine& line, Expect expect = Expect::kMatch);

  /// Prints a skipped line: it neither passes nor fails.
  void skipped(const SkippedLine& line);

  /// Every match line said what was expected.
  bool all_as_expected() const { return all_as_expected_; }
  ExitCode exit_code() const { return all_as_expected() ? ExitCode::kAllMatch : ExitCode::kMismatch; }

  /// Everything printed so far, including what --quiet dropped; empty unless options.remember.
  const std::vector<PrintedLine>& lines() const { return lines_; }

 private:
  void write_line(std::string text);

  PrinterOptions options_;
  bool all_as_expected_ = true;
  std::vector<PrintedLine> lines_;
};

}  // namespace lab::log
