#include <atomic>
#include <functional>
#include <optional>
#include <random>

#include "common/comm/tests/rendezvous_ranks.h"

// Other programs that connect to the port, or listen there.
using namespace lab;
using namespace lab::comm;
using namespace lab::comm::rendezvous_ranks;

namespace {

/// A foreign service: accepts, and applies a given action to each connection.
class ForeignService {
 public:
  explicit ForeignService(std::function<void(int)> serve) : listeners_(listen_at(place_, deadline_in())) {
    thread_ = std::thread([this, serve = std::move(serve)] {
      std::vector<UniqueFd> open;
      while (!stopping_) {
        if (!wait_for(listeners_[0].get(), POLLIN, deadline_in(5))) continue;
        open.emplace_back(::accept(listeners_[0].get(), nullptr, nullptr));
        serve(open.back().get());
      }
    });
  }
  ~ForeignService() {
    stopping_ = true;
    thread_.join();
  }
  const RendezvousPlace& place() const { return place_; }

 private:
  RendezvousPlace place_ = loopback();
  std::vector<UniqueFd> listeners_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("idle, half-open and garbage connections are dropped, and the ranks still find each other") {
  std::mt19937 random(1);
  const auto pause = [&](int max_ms) { std::this_thread::sleep_for(milliseconds(random() % max_ms)); };
  const std::string arrival = to_bytes(to_message(find_rank(1, 3)));
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    RendezvousServer server(loopback(), 3, "token", deadline_in());
    std::vector<UniqueFd> idle, one_byte, half, garbage;
    std::vector<Ending> endings(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back(
          [&, rank] { endings[static_cast<std::size_t>(rank)] = meet(server.place(), find_rank(rank, 3)); });
      idle.push_back(connected(server.place()));
      for (auto* group : {&one_byte, &half, &garbage}) group->push_back(connected(server.place()));
      send_all(one_byte.back().get(), "L", deadline_in());
      send_all(half.back().get(), arrival.substr(0, random() % arrival.size()), deadline_in());
      std::string noise(random() % 5000, '\0');
      for (char& letter : noise) letter = static_cast<char>(random());
      send_all(garbage.back().get(), noise, deadline_in());
      pause(3);
    }
    for (std::thread& thread : threads) thread.join();
    for (const Ending& ending : endings) {
      CAPTURE(ending.message);
      CHECK(ending.exit_code == 0);
    }
  }
}

TEST_CASE("more connections than descriptors or patience allow: the oldest strangers go, and the ranks meet") {
  RendezvousServer server(loopback(), 2, "token", deadline_in());
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 300; ++i) idle.push_back(connected(server.place()));
  for (const Ending& ending : meet_all(server.place(), ranks(2))) CHECK(ending.exit_code == 0);
  int num_dropped = 0;
  for (const UniqueFd& fd : idle) num_dropped += wait_for(fd.get(), POLLIN, Clock::now()) ? 1 : 0;
  CHECK(num_dropped >= 300 - 130);
}

TEST_CASE("a second process with the same rank is turned away with both names, and the first goes on") {
  for (const bool after_arrival : {false, true}) {
    RendezvousServer server(loopback(), 2, "token", deadline_in());
    Arrival second = find_rank(1, 2);
    second.process = "process 999 on node2";
    std::optional<RendezvousClient> zero, one;
    std::thread first([&] { one.emplace(server.place(), find_rank(1, 2), deadline_in()); });
    std::thread rank_0([&] {
      if (!after_arrival) std::this_thread::sleep_for(milliseconds(200));
      zero.emplace(server.place(), find_rank(0, 2), deadline_in());
    });
    if (after_arrival) rank_0.join();
    if (!after_arrival) std::this_thread::sleep_for(milliseconds(60));
    const Ending ending = meet(server.place(), second);
    CHECK(ending.exit_code == 2);
    CHECK(has(ending.message,
              "rank 1 has already arrived: expected one process with this rank, got process 101 on node1 and process "
              "999 on node2"));
    if (!after_arrival) rank_0.join();
    first.join();
    CHECK(one.has_value());
  }
}

TEST_CASE("a rank of another job is turned away, and the run goes on") {
  RendezvousServer server(loopback(), 2, "token", deadline_in());
  Arrival stray = find_rank(1, 2);
  stray.token = "another";
  const Ending ending = meet(server.place(), stray);
  CHECK(ending.exit_code == 2);
  CHECK(has(ending.message, "rank 0 of another job listens"));
  for (const Ending& of_rank : meet_all(server.place(), ranks(2))) CHECK(of_rank.exit_code == 0);
}

TEST_CASE("a foreign service on the port: ranks end in time and say so") {
  const auto ends = [](const std::function<void(int)>& serve, const std::string& part) {
    ForeignService service(serve);
    const Ending ending = meet(service.place(), find_rank(1, 2, 300));
    CAPTURE(ending.message);
    CHECK(ending.exit_code == 5);
    CHECK(has(ending.message, part));
    CHECK(has(ending.message, "MASTER_PORT"));
  };
  ends([](int) {}, "the process listening there sent nothing for 0.3 s");
  ends([](int fd) { send_all(fd, "SSH-2.0-OpenSSH_9.2\r\n", deadline_in()); }, "answers like another program");
  ends([](int fd) { send_all(fd, "LRV", deadline_in()); }, "the process listening there sent nothing for 0.3 s");
  ends(
      [](int fd) {
        send_all(fd, to_bytes({RendezvousKind::kItems, "x"}), deadline_in());
      },
      "answers like another program");
  ends([](int fd) { ::shutdown(fd, SHUT_RDWR); }, "the process listening there kept closing the connection for 0.3 s");
}

TEST_CASE("a rank 0 that stops after it heard a rank: the rank ends in time and says so") {
  ForeignService service([](int fd) { send_all(fd, to_bytes({RendezvousKind::kHeard, ""}), deadline_in()); });
  const Ending ending = meet(service.place(), find_rank(1, 2, 300));
  CHECK(ending.exit_code == 5);
  CHECK(has(ending.message, "stopped answering before all ranks were connected"));
}
