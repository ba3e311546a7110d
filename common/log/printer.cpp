#include "common/log/printer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "common/base/machine_limits.h"
#include "common/base/text.h"

namespace lab::log {

bool as_expected(const JudgedLine& judged) {
  const MatchLine& line = judged.line;
  if (!std::isfinite(line.max_diff) || !std::isfinite(line.mean_diff)) return false;
  return line.match == (judged.expect == Expect::kMatch);
}

Printer::Printer(PrinterOptions options) : options_(std::move(options)) {
  if (!options_.line_lock) options_.line_lock = std::make_shared<std::mutex>();
}

void Printer::write_line(std::string text) {
  if (options_.fd < 0) return;
  text += '\n';
  const std::lock_guard<std::mutex> guard(*options_.line_lock);
  print_to(options_.fd, text);
}

void Printer::line(const std::string& text) {
  std::string whole = one_line(text);
  if (options_.remember) lines_.emplace_back(whole);
  if (!options_.quiet) write_line(std::move(whole));
}

void Printer::text(int rank, const std::string& text) {
  line(fmt::format("[Rank {}] {}", rank, text));
}

void Printer::match(const MatchLine& line, Expect expect) {
  std::string text = format(line);
  const JudgedLine judged{line, expect};
  all_as_expected_ = all_as_expected_ && as_expected(judged);
  if (options_.remember) lines_.emplace_back(judged);
  write_line(std::move(text));
}

void Printer::skipped(const SkippedLine& line) {
  std::string text = format(line);
  if (options_.remember) lines_.emplace_back(line);
  write_line(std::move(text));
}

}  // namespace lab::log
