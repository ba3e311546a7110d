#include "common/report/plot_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace lab::plot {
namespace {

constexpr int kMostTicks = 9;
constexpr double kSlack = 1e-9;  ///< of a step: an end that is a tick but for rounding is a tick

/// As {:g}, without its zeros and plus in the exponent: 1e+06 is 1e6.
std::string number(double value) {
  std::string text = fmt::format("{:g}", value);
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

/// value in the scale that suits `reference`.
std::string label(double value, double reference, Unit unit) {
  static constexpr std::array<Scale, 5> kBytes{
      {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
  static constexpr std::array<Scale, 4> kSeconds{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  if (unit == Unit::kPlain || value == 0) return number(value);
  const Scale scale = unit == Unit::kBytes ? scale_of(kBytes, reference) : scale_of(kSeconds, reference);
  return fmt::format("{} {}", number(value / scale.size), scale.name);
}

std::vector<Tick> linear_ticks(Range range, Unit unit) {
  const double least_step = (range.high - range.low) / (kMostTicks - 1);
  double step = 0;
  if (unit == Unit::kBytes) {
    step = std::exp2(std::ceil(std::log2(least_step)));
  } else {
    const double power = std::pow(10, std::floor(std::log10(least_step)));
    for (const int factor : {1, 2, 5, 10}) {
      step = factor * power;
      if (step >= least_step * (1 - kSlack)) break;
    }
  }
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  std::vector<Tick> found;
  const double first = std::ceil(range.low / step - kSlack) + 0.0;  // never -0
  for (double i = first; i <= range.high / step + kSlack; ++i) {
    // i / 10 rather than i * 0.1, which would be 0.30000000000000004 for i = 3.
    const double at = step < 1 && unit != Unit::kBytes ? i / std::round(1 / step) : i * step;
    found.push_back({at, label(at, largest, unit)});
  }
  return found;
}

/// Powers of two, a fixed number of doublings apart and through 1 KiB.
std::vector<Tick> log_byte_ticks(Range range) {
  const int low = static_cast<int>(std::ceil(std::log2(range.low) - kSlack));
  const int high = static_cast<int>(std::floor(std::log2(range.high) + kSlack));
  for (const int step : {1, 2, 5, 10, 20}) {
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
  for (const int decades_apart : {1, 2, 3, 6, 12, 100}) {
    std::vector<Tick> found = decade_ticks(range, unit, {1}, decades_apart);
    if (found.size() > kMostTicks) continue;
    if (found.size() > 3 || decades_apart > 1) return found;
    std::vector<Tick> more = decade_ticks(range, unit, {1, 2, 5}, 1);
    return more.size() > kMostTicks ? found : more;
  }
  return {};
}

}  // namespace

std::vector<Tick> ticks(Range range, bool log, Unit unit) {
  if (!log) return linear_ticks(range, unit);
  std::vector<Tick> found = unit == Unit::kBytes ? log_byte_ticks(range) : log_ticks(range, unit);
  // A range within one decade, or between two powers of two.
  return found.size() < 2 ? linear_ticks(range, unit) : found;
}

}  // namespace lab::plot
