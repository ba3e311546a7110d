#include "common/bench/bench_blocks.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/base/numbers.h"

namespace lab {

void add_steps(cli::App& app, SizeSteps& steps) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
  app.add_bytes("--min-bytes", steps.min_bytes, {4, kMostBytes}, "smallest size");
  app.add_bytes("--max-bytes", steps.max_bytes, {4, kMostBytes}, "largest size");
  app.add_integer("--factor", steps.factor, {2, 1024}, "from one size to the next");
}

void check_steps(const SizeSteps& steps) {
  if (steps.min_bytes <= steps.max_bytes) return;
  const auto text = [](std::int64_t bytes) { return describe_bytes(static_cast<std::uint64_t>(bytes)); };
  throw UsageError(
      fmt::format("--min-bytes {}: expected at most --max-bytes, {}", text(steps.min_bytes), text(steps.max_bytes)));
}

}  // namespace lab
