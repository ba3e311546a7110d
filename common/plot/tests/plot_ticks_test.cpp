#include "common/plot/plot_ticks.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "common/testing/plain_test.h"

using lab::plot::Range;
using lab::plot::ticks;
using lab::plot::Unit;

namespace {

std::string labels(Range range, bool log, Unit unit) {
  std::string text;
  for (const auto& tick : ticks(range, log, unit)) text += (text.empty() ? "" : " | ") + tick.label;
  return text;
}

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kDenormal = std::numeric_limits<double>::denorm_min();

/// Two to ten, inside the drawable range, in order, no two alike.
bool good_ticks(Range range, bool log, Unit unit) {
  const Range drawn = lab::plot::drawable(range, log);
  const auto found = ticks(range, log, unit);
  if (!(drawn.low < drawn.high) || found.size() < 2 || found.size() > 10) return false;
  const double slack = 1e-6 * (drawn.high - drawn.low);
  if (found.front().at < drawn.low - slack || found.back().at > drawn.high + slack) return false;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i - 1].at >= found[i].at || found[i - 1].label == found[i].label) return false;
  }
  return true;
}

/// Any finite number, each exponent as likely as another; above zero where log.
double any_number(std::mt19937_64& generator, bool log) {
  for (;;) {
    const std::uint64_t bits = generator();
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (log) value = std::abs(value);
    if (std::isfinite(value) && (!log || value > 0)) return value;
  }
}

std::string text_of(Range range, bool log) {
  return fmt::format("{:.17g} to {:.17g}{}", range.low, range.high, log ? " (log)" : "");
}

}  // namespace

TEST_CASE("plot ticks: message sizes are powers of two, a fixed number of doublings apart") {
  CHECK(labels({kKiB, 64 * kMiB}, true, Unit::kBytes) ==
        "1 KiB | 4 KiB | 16 KiB | 64 KiB | 256 KiB | 1 MiB | 4 MiB | 16 MiB | 64 MiB");
  CHECK(labels({4, 40}, true, Unit::kBytes) == "4 B | 8 B | 16 B | 32 B");
  CHECK(labels({1, 1024 * kMiB}, true, Unit::kBytes) == "1 B | 32 B | 1 KiB | 32 KiB | 1 MiB | 32 MiB | 1 GiB");
  CHECK(labels({0, 4 * kMiB}, false, Unit::kBytes) ==
        "0 | 0.5 MiB | 1 MiB | 1.5 MiB | 2 MiB | 2.5 MiB | 3 MiB | 3.5 MiB | 4 MiB");
}

TEST_CASE("plot ticks: times carry the unit that suits them") {
  CHECK(labels({1e-6, 1}, true, Unit::kSeconds) == "1 µs | 10 µs | 100 µs | 1 ms | 10 ms | 100 ms | 1 s");
  CHECK(labels({1e-9, 2e-7}, true, Unit::kSeconds) == "1 ns | 2 ns | 5 ns | 10 ns | 20 ns | 50 ns | 100 ns | 200 ns");
  CHECK(labels({0, 4e-3}, false, Unit::kSeconds) ==
        "0 | 0.5 ms | 1 ms | 1.5 ms | 2 ms | 2.5 ms | 3 ms | 3.5 ms | 4 ms");
}

TEST_CASE("plot ticks: plain numbers, never -0 and never 0.30000000000000004") {
  CHECK(labels({0, 0.4}, false, Unit::kPlain) == "0 | 0.05 | 0.1 | 0.15 | 0.2 | 0.25 | 0.3 | 0.35 | 0.4");
  CHECK(labels({-1, 1}, false, Unit::kPlain).find("-0 ") == std::string::npos);
  CHECK(labels({0, 8e6}, false, Unit::kPlain) == "0 | 1e6 | 2e6 | 3e6 | 4e6 | 5e6 | 6e6 | 7e6 | 8e6");
  CHECK(labels({1e-3, 10}, true, Unit::kPlain) == "0.001 | 0.01 | 0.1 | 1 | 10");
  CHECK(ticks({0, 0.4}, false, Unit::kPlain)[6].at == 0.3);
}

TEST_CASE("plot ticks: two to ten of them, inside the range, in order, no two alike") {
  for (const Unit unit : {Unit::kPlain, Unit::kBytes, Unit::kSeconds}) {
    for (const bool log : {false, true}) {
      for (double low = 1e-9; low < 1e9; low *= 7.3) {
        for (double ratio = 1.001; ratio < 1e30; ratio *= 1.9) {
          const Range range{low, low * ratio};
          REQUIRE_MESSAGE(good_ticks(range, log, unit), text_of(range, log) << ": " << labels(range, log, unit));
        }
      }
    }
  }
}

TEST_CASE("plot ticks: two to ten between any two finite numbers, however close, far apart, large or small") {
  std::mt19937_64 generator(2026);
  for (int i = 0; i < 20000; ++i) {
    for (const bool log : {false, true}) {
      const double a = any_number(generator, log);
      // Any other number, or one a few steps of the last bit to a few percent away.
      const double near = a * (1 + std::ldexp(1.0, -static_cast<int>(generator() % 54)));
      const double b = i % 2 == 0 || !std::isfinite(near) ? any_number(generator, log) : near;
      const auto unit = static_cast<Unit>(generator() % 3);
      REQUIRE_MESSAGE(good_ticks({a, b}, log, unit), text_of({a, b}, log) << ": " << labels({a, b}, log, unit));
    }
  }
}

TEST_CASE("plot ticks: one step of the last bit, equal ends, denormal numbers and the largest ones") {
  for (const double value : {1.0, 2.302585, 1e-9, 3e9, 9007199254740993.0, 1e300, kMax, kDenormal, 2.3e-308}) {
    for (const double sign : {1.0, -1.0}) {
      for (const bool log : {false, true}) {
        if (log && sign < 0) continue;
        const double at = sign * value;
        for (const Range range : {Range{at, at}, Range{at, std::nextafter(at, log ? kMax : 0)}, Range{at, kMax}}) {
          REQUIRE_MESSAGE(good_ticks(range, log, Unit::kPlain), text_of(range, log));
        }
      }
    }
  }
  CHECK(good_ticks({-kMax, kMax}, false, Unit::kPlain));
  CHECK(good_ticks({0, 0}, false, Unit::kPlain));
  CHECK(good_ticks({0, kDenormal}, false, Unit::kBytes));
  CHECK(good_ticks({kDenormal, kMax}, true, Unit::kBytes));
}

TEST_CASE("plot ticks: a narrow range far from zero has labels with enough digits to tell them apart") {
  CHECK(labels({2.302580, 2.302584}, false, Unit::kPlain) ==
        "2.30258 | 2.3025805 | 2.302581 | 2.3025815 | 2.302582 | 2.3025825 | 2.302583 | 2.3025835 | 2.302584");
}
