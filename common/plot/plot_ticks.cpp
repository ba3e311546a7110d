#include "common/plot/plot_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace lab::plot {
namespace {

constexpr double kLargest = 1e300;
constexpr double kSmallestOnLog = 1e-280;
constexpr double kLeastWidth = 1e-290;        ///< a step of it, and its inverse, are normal numbers
constexpr double kLeastRelativeWidth = 1e-9;  ///< of the larger end: a tick's number stays far below 2^53
constexpr int kMostTicks = 9;
constexpr double kSlack = 1e-9;  ///< of a step: an end that is a tick up to rounding is a tick

/// As {:g}, without its zeros and plus in the exponent: 1e+06 is 1e6.
std::string number(double value, int num_digits) {
  std::string text = fmt::format("{:.{}g}", value, num_digits);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  return fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

struct Scale {
  double size;
  const char* name;
};

/// The largest scale that is not above `reference`.
template <std::size_t N>
Scale scale_of(const std::array<Scale, N>& descending, double reference) {
  for (const Scale& scale : descending) {
    if (std::abs(reference) >= scale.size * (1 - kSlack)) return scale;
  }
  return descending.back();
}

constexpr int kLeastDigits = 6;

/// value in the scale that suits `reference`.
std::string label(double value, double reference, Unit unit, int num_digits = kLeastDigits) {
  static constexpr std::array<Scale, 5> kBytes{
      {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
  static constexpr std::array<Scale, 4> kSeconds{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  if (unit == Unit::kPlain || value == 0) return number(value, num_digits);
  const Scale scale = unit == Unit::kBytes ? scale_of(kBytes, reference) : scale_of(kSeconds, reference);
  return fmt::format("{} {}", number(value / scale.size, num_digits), scale.name);
}

/// The least round step that leaves at most kMostTicks intervals.
double step_for(Range range, Unit unit) {
  const double least_step = (range.high - range.low) / (kMostTicks - 1);
  if (unit == Unit::kBytes) return std::exp2(std::ceil(std::log2(least_step)));
  const double power = std::pow(10, std::floor(std::log10(least_step)));
  for (const int factor : {1, 2, 5}) {
    if (factor * power >= least_step * (1 - kSlack)) return factor * power;
  }
  return 10 * power;
}

std::vector<Tick> linear_ticks(Range range, Unit unit) {
  const double step = step_for(range, unit);
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  // Enough for neighbours to differ: one digit more than the step has places below the largest.
  const int num_digits = std::max(kLeastDigits, 2 + static_cast<int>(std::floor(std::log10(largest / step))));
  const auto first = static_cast<std::int64_t>(std::ceil(range.low / step - kSlack));
  const auto last = static_cast<std::int64_t>(std::floor(range.high / step + kSlack));
  std::vector<Tick> found;
  for (std::int64_t i = first; i <= last; ++i) {
    // i / 10 rather than i * 0.1, which would be 0.30000000000000004 for i = 3.
    const auto whole = static_cast<double>(i);
    const double at = step < 1 && unit != Unit::kBytes ? whole / std::round(1 / step) : whole * step;
    found.push_back({at, label(at, largest, unit, num_digits)});
  }
  return found;
}

/// Powers of two, a fixed number of doublings apart and through 1 KiB.
std::vector<Tick> log_byte_ticks(Range range) {
  const int low = static_cast<int>(std::ceil(std::log2(range.low) - kSlack));
  const int high = static_cast<int>(std::floor(std::log2(range.high) + kSlack));
  for (const int step : {1, 2, 5, 10, 20, 50, 100, 200}) {  // exponents run from -997 to 997
    std::vector<Tick> found;
    for (int power = low; power <= high; ++power) {
      if ((power - 10) % step != 0) continue;
      const double at = std::exp2(power);
      found.push_back({at, label(at, at, Unit::kBytes)});
    }
    if (found.size() <= kMostTicks) return found;
  }
  return {};
}

std::vector<Tick> decade_ticks(Range range, Unit unit, std::initializer_list<int> factors, int decades_apart) {
  const int low = static_cast<int>(std::floor(std::log10(range.low)));
  const int high = static_cast<int>(std::ceil(std::log10(range.high)));
  std::vector<Tick> found;
  for (int power = low; power <= high; ++power) {
    if (power % decades_apart != 0) continue;
    for (const int factor : factors) {
      // Divided where the power is negative: 5 / 1e3 is the double nearest to 0.005, 5 * 1e-3 need not be.
      const double at = power < 0 ? factor / std::pow(10, -power) : factor * std::pow(10, power);
      if (at >= range.low * (1 - kSlack) && at <= range.high * (1 + kSlack)) found.push_back({at, label(at, at, unit)});
    }
  }
  return found;
}

std::vector<Tick> log_ticks(Range range, Unit unit) {
  for (const int decades_apart : {1, 2, 3, 6, 12, 24, 50, 100}) {
    std::vector<Tick> found = decade_ticks(range, unit, {1}, decades_apart);
    if (found.size() > kMostTicks) continue;
    if (found.size() > 3 || decades_apart > 1) return found;
    std::vector<Tick> more = decade_ticks(range, unit, {1, 2, 5}, 1);
    return more.size() > kMostTicks ? found : more;
  }
  return {};
}

}  // namespace

double shown_at(double value, bool log) {
  return std::clamp(value, log ? kSmallestOnLog : -kLargest, kLargest);
}

bool too_close(double low, double high, bool log) {
  const double least = kLeastRelativeWidth * std::max(std::abs(low), std::abs(high));
  return high - low < (log ? least : std::max(least, kLeastWidth));
}

Range drawable(Range range, bool log) {
  range = {shown_at(std::min(range.low, range.high), log), shown_at(std::max(range.low, range.high), log)};
  if (!too_close(range.low, range.high, log)) return range;
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  const double half = std::max(kLeastRelativeWidth * largest, log ? 0 : kLeastWidth);
  return {range.low - half, range.high + half};
}

std::vector<Tick> ticks(Range range, bool log, Unit unit) {
  range = drawable(range, log);
  if (!log) return linear_ticks(range, unit);
  std::vector<Tick> found = unit == Unit::kBytes ? log_byte_ticks(range) : log_ticks(range, unit);
  // A range within one decade, or between two powers of two.
  return found.size() < 2 ? linear_ticks(range, unit) : found;
}

}  // namespace lab::plot
