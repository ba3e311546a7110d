#include "common/report/plot_ticks.h"

#include "common/testing/plain_test.h"

using lab::plot::ticks;
using lab::plot::Unit;

namespace {

std::string labels(lab::plot::Range range, bool log, Unit unit) {
  std::string text;
  for (const auto& tick : ticks(range, log, unit)) text += (text.empty() ? "" : " | ") + tick.label;
  return text;
}

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

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
          const double high = low * ratio;
          const auto found = ticks({low, high}, log, unit);
          const double slack = 1e-6 * (high - low);
          bool good = found.size() >= 2 && found.size() <= 10;
          good = good && found.front().at >= low - slack && found.back().at <= high + slack;
          for (std::size_t i = 1; good && i < found.size(); ++i) {
            good = found[i - 1].at < found[i].at && found[i - 1].label != found[i].label;
          }
          REQUIRE_MESSAGE(good, low << " to " << high << ": " << labels({low, high}, log, unit));
        }
      }
    }
  }
}
