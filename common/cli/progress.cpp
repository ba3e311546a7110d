#include "common/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::cli {
namespace {

constexpr double kSilentSeconds = 2.0;
constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainSeconds = 10.0;
constexpr int kBarWidth = 24;
constexpr std::size_t kColumns = 79;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string joined(std::string line, const std::string& note) {
  if (!note.empty()) line += ": " + note;
  if (line.size() > kColumns) line.resize(kColumns);
  return line;
}

}  // namespace

Progress::Progress(ProgressOptions options) : options_(std::move(options)) {
  options_.label = one_line(options_.label);
  if (!options_.clock) options_.clock = steady_seconds;
  if (!options_.sink) options_.sink = [fd = options_.fd](std::string_view text) { write_fully(fd, text); };
  if (!options_.is_terminal) options_.is_terminal = ::isatty(options_.fd) == 1;
  start_ = last_shown_ = options_.clock();
}

Progress::~Progress() {
  if (!shown_) return;
  try {
    const double elapsed = options_.clock() - start_;
    options_.sink(*options_.is_terminal ? "\r\x1b[K" + bar_line(elapsed) + "\n" : plain_line(elapsed) + "\n");
  } catch (...) {
    // A missing line on the screen must not end the program.
  }
}

void Progress::advance(std::int64_t n, const std::string& note) {
  done_ += n;
  note_ = one_line(note);
  const double now = options_.clock();
  if (now - start_ < kSilentSeconds) return;
  const double pause = *options_.is_terminal ? kRedrawSeconds : kPlainSeconds;
  // On a terminal the first drawing comes as soon as the silence ends.
  if ((shown_ || !*options_.is_terminal) && now - last_shown_ < pause) return;
  show(now);
}

void Progress::show(double now) {
  shown_ = true;
  last_shown_ = now;
  options_.sink(*options_.is_terminal ? "\r\x1b[K" + bar_line(now - start_) : plain_line(now - start_) + "\n");
}

std::string Progress::bar_line(double elapsed) const {
  if (options_.total <= 0) return plain_line(elapsed);
  const double part = std::clamp(static_cast<double>(done_) / static_cast<double>(options_.total), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  std::string line = fmt::format("{} [{}{}] {}/{}", options_.label, std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '.'), done_, options_.total);
  if (part > 0.0 && part < 1.0) line += fmt::format(", {:.0f} s left", elapsed * (1.0 - part) / part);
  return joined(line, note_);
}

std::string Progress::plain_line(double elapsed) const {
  const std::string of = options_.total > 0 ? fmt::format(" of {}", options_.total) : "";
  return joined(fmt::format("{}: {}{} after {:.0f} s", options_.label, done_, of, elapsed), note_);
}

}  // namespace lab::cli
