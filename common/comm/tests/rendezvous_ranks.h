#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common/api/errors.h"
#include "common/comm/rendezvous/client.h"
#include "common/comm/rendezvous/server.h"
#include "common/testing/plain_test.h"

// Ranks of one rendezvous, each on its own thread.
namespace lab::comm::rendezvous_ranks {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

inline Clock::time_point deadline_in(int ms = 10'000) {
  return Clock::now() + milliseconds(ms);
}

inline RendezvousPlace loopback(int port = 0) {
  return {"", "127.0.0.1", port};
}

inline Arrival find_rank(int rank, int size, int timeout_ms = 10'000) {
  Arrival arrival;
  arrival.rank = rank;
  arrival.size = size;
  arrival.timeout_ms = timeout_ms;
  arrival.token = "token";
  arrival.fingerprint = "--seed: 42\n";
  arrival.process = fmt::format("process {} on node1", 100 + rank);
  return arrival;
}

/// How a rank ended: an exit code and a message; 0 if it found the others and got their items.
struct Ending {
  int exit_code = 0;
  std::string message;
};

/// Arrives and exchanges one item with every other rank.
inline Ending meet(const RendezvousPlace& place, const Arrival& own) {
  try {
    RendezvousClient client(place, own, deadline_in(own.timeout_ms));
    std::string items, expected;
    for (int peer = 0; peer < own.size; ++peer) {
      items += fmt::format("{:03}>{:03}", own.rank, peer);
      expected += fmt::format("{:03}>{:03}", peer, own.rank);
    }
    const std::string got = client.exchange("everyone", own.rank, own.size, items, own.timeout_ms / 1000.0);
    if (got != expected) return {-1, got};
    // No rank leaves before all have their items, as in a world, where ranks say farewell.
    client.exchange("farewell", own.rank, own.size, "", own.timeout_ms / 1000.0);
    return {};
  } catch (const Error& error) {
    return {static_cast<int>(error.exit_code()), error.what()};
  } catch (const std::exception& error) {
    return {-2, error.what()};
  }
}

/// Each arrival on its own thread.
inline std::vector<Ending> meet_all(const RendezvousPlace& place, const std::vector<Arrival>& arrivals) {
  std::vector<Ending> endings(arrivals.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    threads.emplace_back([&, i] { endings[i] = meet(place, arrivals[i]); });
  for (std::thread& thread : threads) thread.join();
  return endings;
}

inline std::vector<Arrival> ranks(int size, int timeout_ms = 10'000) {
  std::vector<Arrival> arrivals;
  for (int rank = 0; rank < size; ++rank) arrivals.push_back(find_rank(rank, size, timeout_ms));
  return arrivals;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline UniqueFd connected(const RendezvousPlace& place) {
  UniqueFd fd;
  REQUIRE(connect_to(resolve_addresses(place, deadline_in()).at(0), deadline_in(), fd) == 0);
  return fd;
}

inline std::string temporary_folder() {
  std::string path = "/tmp/rendezvous-test-XXXXXX";
  REQUIRE(::mkdtemp(path.data()) != nullptr);
  return path;
}

}  // namespace lab::comm::rendezvous_ranks
