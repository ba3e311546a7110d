#pragma once

#include <string>
#include <vector>

namespace lab {

/// The network of the simulated world. One rank lives on each host; hosts compute in no time, messages take theirs.
///
/// On the star, the cost of a message is exactly the alpha-beta model's: alpha = latency_seconds is the one-way latency
/// between any two hosts (half of it on the sender's uplink, half on the receiver's downlink), beta =
/// 1 / bytes_per_second, so n payload bytes take alpha + n beta; headers are free. Links are full duplex: what a host
/// sends at one time shares its uplink in equal parts, what it receives shares its downlink, and the two directions do
/// not disturb each other. On the other platforms both numbers belong to each single link, and a message crosses
/// several.
/// Example   10 us and 1.25 GB/s: 1,250 bytes take 11 us; sent to two hosts at once, 12 us
struct SimNetwork {
  std::string platform = "star";
  double latency_seconds = 10e-6;
  double bytes_per_second = 1.25e9;
};

/// star: every host at one switch that is never busy. fat-tree: switches of 16 ports down, as many links up as down.
/// torus: three dimensions, as near to a cube as the number of ranks allows. dragonfly: groups of routers, all groups
/// linked to each other.
const std::vector<std::string>& platform_names();

/// Errors    UsageError: an unknown platform; a latency below 0 or above 1,000 s; fewer than 1 or more than 1e15 bytes
///           a second
void check_network(const SimNetwork& network);

}  // namespace lab
