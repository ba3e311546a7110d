#pragma once

#include <string>
#include <vector>

namespace lab::comm {

/// The network of the simulated world: computing takes no time, messages do. One rank runs on each host, or several.
///
/// On the star, the cost of a message is exactly the alpha-beta model's: alpha = latency_seconds is the one-way latency
/// between any two hosts (half of it on the sender's uplink, half on the receiver's downlink), beta =
/// 1 / bytes_per_second, so n payload bytes take alpha + n beta; headers are free. Links are full duplex: concurrent
/// sends share a host's uplink equally, receives share its downlink, and the two directions do not affect each other.
/// On the other platforms both numbers apply to each single link, and a message crosses several. There, and with several
/// ranks per host, messages share a link by the inverse of their latencies: of one over twice as many links as another,
/// a link carries half as much (SimGrid's model CM02, in 3.32 and 4.0).
/// Example   10 us and 1.25 GB/s: 1,250 bytes take 11 us; sent to two hosts at once, 12 us
///
/// With several ranks per host, r / ranks_per_host is the number of rank r's host. A message inside a host takes
/// host_latency_seconds and its bytes at host_bytes_per_second, as on a star of the host's ranks; one to another host
/// takes both latencies, and the ranks of a host share its link to the others.
struct SimNetwork {
  std::string platform = "star";
  double latency_seconds = 10e-6;
  double bytes_per_second = 1.25e9;
  int ranks_per_host = 1;  ///< more than 1: on the star only
  double host_latency_seconds = 1e-6;
  double host_bytes_per_second = 10e9;
};

/// star: every host on one non-blocking switch. fat-tree: switches with 16 ports down, as many links up as down. torus:
/// three dimensions, as close to a cube as the number of ranks allows. dragonfly: groups of routers, all groups linked
/// to each other.
const std::vector<std::string>& platform_names();

/// Errors    UsageError: an unknown platform; a latency below 0 or above 1,000 s; fewer than 1 or more than 1e15 bytes
///           per second
void check_network(const SimNetwork& network);

}  // namespace lab::comm
