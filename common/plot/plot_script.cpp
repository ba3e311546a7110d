#include "common/plot/plot_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/text.h"

namespace lab::plot {
namespace {

/// In em, of DejaVu Sans, the widest of the fonts that "sans-serif" may stand for.
double letter_width(unsigned char c) {
  if (c >= 0x80) return (c & 0xC0) == 0x80 ? 0 : 0.8;  // the first byte of a UTF-8 sequence counts for all
  if (std::string_view("iljtfrI.,:;'|!()[] ").find(static_cast<char>(c)) != std::string_view::npos) return 0.39;
  if (std::string_view("mwMW%@").find(static_cast<char>(c)) != std::string_view::npos) return 0.96;
  return c >= 'A' && c <= 'Z' ? 0.73 : 0.63;
}

}  // namespace

std::string quoted(std::string_view text) {
  // Inside single quotes gnuplot interprets neither escapes nor `commands`; a quote itself is doubled.
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'') out += c;
    out += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return out + "'";
}

std::string quoted(Colour colour) {
  return fmt::format("'#{:06X}'", colour.rgb & 0xFFFFFF);
}

double num_lines(std::string_view text) {
  return static_cast<double>(split(text, '\n').size());
}

double text_width(std::string_view text, double px) {
  double widest = 0;
  for (const std::string_view line : split(text, '\n')) {
    double width = 0;
    for (const char c : line) width += letter_width(static_cast<unsigned char>(c));
    widest = std::max(widest, width);
  }
  return widest * px;
}

double fitted_px(std::string_view text, double wanted_px, double width) {
  const double needed = text_width(text, wanted_px);
  return needed <= width ? wanted_px : wanted_px * width / needed;
}

std::string Frame::screen_x(double x) const {
  return fmt::format("screen {:.5f}", x / width);
}
std::string Frame::screen_y(double y) const {
  return fmt::format("screen {:.5f}", 1 - y / height);
}

void check_size(int width_px, int height_px) {
  constexpr int kLeast = 100;
  constexpr int kMost = 10000;
  if (std::min(width_px, height_px) >= kLeast && std::max(width_px, height_px) <= kMost) return;
  throw UsageError(fmt::format("a picture of {} x {} px cannot be drawn; expected {} to {} px each way", width_px,
                               height_px, kLeast, kMost));
}

std::string frame_script(const Frame& frame) {
  return fmt::format(
      "set encoding utf8\n"
      "unset key\n"
      "set lmargin at {}\nset rmargin at {}\nset tmargin at {}\nset bmargin at {}\n"
      "set style textbox opaque noborder fillcolor rgb 'white' margins 0.4,0.1\n",
      frame.screen_x(frame.left), frame.screen_x(frame.width - frame.right), frame.screen_y(frame.top),
      frame.screen_y(frame.height - frame.bottom));
}

std::string label_script(const Frame& frame, const Label& label) {
  std::string script;
  const char* align = label.align == Align::kLeft ? "left" : label.align == Align::kRight ? "right" : "center";
  // gnuplot centres the first line only, so each line is its own label.
  const std::vector<std::string_view> lines = split(label.text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const double up = ((static_cast<double>(lines.size()) - 1) / 2 - static_cast<double>(i)) * kLineHeight * label.px;
    script += fmt::format("set label {} at {}, {} {} front textcolor rgb {} font ',{:.2f}'", plot::quoted(lines[i]),
                          label.x, label.y, align, quoted(label.colour), label.px);
    if (up != 0) script += fmt::format(" offset screen 0, screen {:.5f}", up / frame.height);
    if (label.upward) script += " rotate by 90";
    if (label.halo) script += " boxed";
    script += '\n';
  }
  return script;
}

std::string ticks_script(const Frame& frame, Side side, const std::vector<Tick>& ticks, Range range) {
  constexpr Colour kTickColour{0x444444};
  constexpr double kFromArea = 9;
  std::string marks;
  std::string labels;
  for (const Tick& tick : ticks) {
    if (!(tick.at >= range.low && tick.at <= range.high)) continue;
    // gnuplot treats % in its own tick labels as a format and truncates them, so its ticks have none.
    marks += fmt::format("{}'' {:.17g}", marks.empty() ? "" : ", ", tick.at);
    Label label{"", "", tick.label, kTickPx, Align::kCentre, kTickColour};
    label.x = label.y = fmt::format("first {:.17g}", tick.at);
    const double half_height = kLineHeight * kTickPx * num_lines(tick.label) / 2;
    if (side == Side::kBottom) label.y = frame.screen_y(frame.height - frame.bottom + kFromArea + half_height);
    if (side == Side::kTop) label.y = frame.screen_y(frame.top - kFromArea / 2 - half_height);
    if (side == Side::kLeft) {
      label.x = frame.screen_x(frame.left - kFromArea);
      label.align = Align::kRight;
    }
    labels += label_script(frame, label);
  }
  const char* axis = side == Side::kBottom ? "x" : side == Side::kTop ? "x2" : "y";
  if (marks.empty()) return fmt::format("unset {}tics\n", axis);
  return fmt::format("set {}tics nomirror out scale {} ({})\n{}", axis, side == Side::kTop ? "0" : "0.5", marks,
                     labels);
}

double ticks_width(const std::vector<Tick>& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks) widest = std::max(widest, text_width(tick.label, kTickPx));
  return widest;
}

}  // namespace lab::plot
