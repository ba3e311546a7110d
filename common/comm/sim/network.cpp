#include "common/comm/sim/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"

namespace lab::comm {

const std::vector<std::string>& platform_names() {
  static const std::vector<std::string> names = {"star", "fat-tree", "torus", "dragonfly"};
  return names;
}

void check_network(const SimNetwork& network) {
  const std::vector<std::string>& names = platform_names();
  if (std::find(names.begin(), names.end(), network.platform) == names.end()) {
    throw UsageError(
        fmt::format("platform: expected {}, got \"{}\"; example: star", fmt::join(names, ", "), network.platform));
  }
  // Written so that NaN is rejected too.
  if (!(network.latency_seconds >= 0 && network.latency_seconds <= 1000)) {
    throw UsageError(
        fmt::format("latency: expected 0 to 1000 seconds, got {:g}; example: 10e-6", network.latency_seconds));
  }
  if (!(network.bytes_per_second >= 1 && network.bytes_per_second <= 1e15)) {
    throw UsageError(fmt::format("bandwidth: expected 1 to 1e15 bytes a second, got {:g}; example: 1.25e9",
                                 network.bytes_per_second));
  }
  if (network.ranks_per_host < 1 || (network.ranks_per_host > 1 && network.platform != "star")) {
    throw UsageError(fmt::format("ranks per host: expected 1 or more on the star, 1 on a {}, got {}", network.platform,
                                 network.ranks_per_host));
  }
}

}  // namespace lab::comm
