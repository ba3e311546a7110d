#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "common/comm/rendezvous_client.h"
#include "common/comm/rendezvous_server.h"
#include "common/report/errors.h"
#include "common/testing/plain_test.h"

using namespace lab;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Clock::time_point soon(int ms = 10'000) {
  return Clock::now() + milliseconds(ms);
}

RendezvousPlace loopback(int port = 0) {
  return {"", "127.0.0.1", port};
}

Arrival rank_of(int rank, int size, int timeout_ms = 10'000) {
  Arrival arrival;
  arrival.rank = rank;
  arrival.size = size;
  arrival.timeout_ms = timeout_ms;
  arrival.token = "token";
  arrival.fingerprint = "--seed: 42\n";
  arrival.process = fmt::format("process {} on node1", 100 + rank);
  return arrival;
}

/// What a rank says when it ends: an exit code and a message; 0 when it met the others and got their items.
struct Ending {
  int exit_code = 0;
  std::string sentence;
};

/// Arrives and exchanges one item with everybody.
Ending meet(const RendezvousPlace& place, const Arrival& own) {
  try {
    RendezvousClient client(place, own, soon(own.timeout_ms));
    std::string items, expected;
    for (int peer = 0; peer < own.size; ++peer) {
      items += fmt::format("{:03}>{:03}", own.rank, peer);
      expected += fmt::format("{:03}>{:03}", peer, own.rank);
    }
    const std::string got = client.exchange("everyone", own.rank, own.size, items, own.timeout_ms / 1000.0);
    if (got != expected) return {-1, got};
    // Nobody leaves before all have what they came for, as in a world, where ranks say farewell.
    client.exchange("farewell", own.rank, own.size, "", own.timeout_ms / 1000.0);
    return {};
  } catch (const Error& error) {
    return {static_cast<int>(error.exit_code()), error.what()};
  } catch (const std::exception& error) {
    return {-2, error.what()};
  }
}

/// Each arrival on a thread of its own.
std::vector<Ending> meet_all(const RendezvousPlace& place, const std::vector<Arrival>& arrivals) {
  std::vector<Ending> endings(arrivals.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    threads.emplace_back([&, i] { endings[i] = meet(place, arrivals[i]); });
  for (std::thread& thread : threads) thread.join();
  return endings;
}

std::vector<Arrival> ranks(int size, int timeout_ms = 10'000) {
  std::vector<Arrival> arrivals;
  for (int rank = 0; rank < size; ++rank) arrivals.push_back(rank_of(rank, size, timeout_ms));
  return arrivals;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

UniqueFd connected(const RendezvousPlace& place) {
  UniqueFd fd;
  REQUIRE(connect_to(addresses_of(place, soon()).at(0), soon(), fd) == 0);
  return fd;
}

std::string temporary_folder() {
  std::string path = "/tmp/rendezvous-test-XXXXXX";
  REQUIRE(::mkdtemp(path.data()) != nullptr);
  return path;
}

/// A service that is not ours: accepts, and does to each connection what it is told to.
class ForeignService {
 public:
  explicit ForeignService(std::function<void(int)> serve) : listeners_(listen_at(place_, soon())) {
    thread_ = std::thread([this, serve = std::move(serve)] {
      std::vector<UniqueFd> open;
      while (!stopping_) {
        if (!wait_for(listeners_[0].get(), 1, soon(5))) continue;
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

TEST_CASE("every rank meets every other, over a port and over a socket in a folder") {
  const std::string folder = temporary_folder();
  // Longer than a socket's address may be.
  const std::string deep = folder + "/" + std::string(90, 'x') + "/" + std::string(90, 'y');
  std::filesystem::create_directories(deep);
  for (const int size : {1, 2, 3, 8, 17}) {
    for (const RendezvousPlace& place :
         {loopback(), RendezvousPlace{folder + "/socket", "", 0}, RendezvousPlace{deep + "/socket", "", 0}}) {
      CAPTURE(size);
      RendezvousServer server(place, size, "token", soon());
      for (const Ending& ending : meet_all(server.place(), ranks(size))) {
        CAPTURE(ending.sentence);
        CHECK(ending.exit_code == 0);
      }
      CHECK((place.socket_path.empty() || !std::filesystem::exists(place.socket_path)));  // unlinked by now
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("idle, half-open and garbage connections are dropped, and the ranks meet") {
  std::mt19937 random(1);
  const auto pause = [&](int max_ms) { std::this_thread::sleep_for(milliseconds(random() % max_ms)); };
  const std::string arrival = to_bytes(to_message(rank_of(1, 3)));
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    RendezvousServer server(loopback(), 3, "token", soon());
    std::vector<UniqueFd> idle, one_byte, half, garbage;
    std::vector<Ending> endings(3);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back(
          [&, rank] { endings[static_cast<std::size_t>(rank)] = meet(server.place(), rank_of(rank, 3)); });
      idle.push_back(connected(server.place()));
      for (auto* group : {&one_byte, &half, &garbage}) group->push_back(connected(server.place()));
      send_all(one_byte.back().get(), "L", soon());
      send_all(half.back().get(), arrival.substr(0, random() % arrival.size()), soon());
      std::string noise(random() % 5000, '\0');
      for (char& letter : noise) letter = static_cast<char>(random());
      send_all(garbage.back().get(), noise, soon());
      pause(3);
    }
    for (std::thread& thread : threads) thread.join();
    for (const Ending& ending : endings) {
      CAPTURE(ending.sentence);
      CHECK(ending.exit_code == 0);
    }
  }
}

TEST_CASE("more connections than descriptors or patience allow: the oldest strangers go, and the ranks meet") {
  RendezvousServer server(loopback(), 2, "token", soon());
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 300; ++i) idle.push_back(connected(server.place()));
  for (const Ending& ending : meet_all(server.place(), ranks(2))) CHECK(ending.exit_code == 0);
  int num_dropped = 0;
  for (const UniqueFd& fd : idle) num_dropped += wait_for(fd.get(), 1, Clock::now()) ? 1 : 0;
  CHECK(num_dropped >= 300 - 130);
}

TEST_CASE("ranks that were started differently are told so on every rank") {
  std::vector<Arrival> arrivals = ranks(4);
  arrivals[2].fingerprint = "--seed: 7\n";
  RendezvousServer server(loopback(), 4, "token", soon());
  for (const Ending& ending : meet_all(server.place(), arrivals)) {
    CHECK(ending.exit_code == 2);
    CHECK(has(ending.sentence, "started differently: --seed: expected 42 as on rank 0, got 7 on rank 2; hint:"));
  }
}

TEST_CASE("another WORLD_SIZE is told at once on every rank, also on one that comes later") {
  auto server = std::make_unique<RendezvousServer>(loopback(), 3, "token", soon());
  const RendezvousPlace place = server->place();
  std::vector<Ending> endings = meet_all(place, {rank_of(0, 3), rank_of(1, 2)});
  std::thread last([&] {
    std::this_thread::sleep_for(milliseconds(50));
    endings.push_back(meet(place, rank_of(2, 3)));
  });
  server.reset();  // as rank 0 does when it fails
  last.join();
  REQUIRE(endings.size() == 3);
  for (const Ending& ending : endings) {
    CHECK(ending.exit_code == 2);
    CHECK(has(ending.sentence, "WORLD_SIZE: expected 3 as on rank 0, got 2 on rank 1"));
  }
  RendezvousServer two(loopback(), 2, "token", soon());
  CHECK(has(meet(two.place(), rank_of(2, 3)).sentence, "WORLD_SIZE: expected 2 as on rank 0, got 3 on rank 2"));
}

TEST_CASE("a second process with the same rank is turned away with both names, and the first goes on") {
  for (const bool after_the_meeting : {false, true}) {
    RendezvousServer server(loopback(), 2, "token", soon());
    Arrival second = rank_of(1, 2);
    second.process = "process 999 on node2";
    std::optional<RendezvousClient> zero, one;
    std::thread first([&] { one.emplace(server.place(), rank_of(1, 2), soon()); });
    std::thread rank_0([&] {
      if (!after_the_meeting) std::this_thread::sleep_for(milliseconds(200));
      zero.emplace(server.place(), rank_of(0, 2), soon());
    });
    if (after_the_meeting) rank_0.join();
    if (!after_the_meeting) std::this_thread::sleep_for(milliseconds(60));
    const Ending ending = meet(server.place(), second);
    CHECK(ending.exit_code == 2);
    CHECK(has(ending.sentence,
              "rank 1 has arrived before: expected one process with this rank, got process 101 on node1 and process "
              "999 on node2"));
    if (!after_the_meeting) rank_0.join();
    first.join();
    CHECK(one.has_value());
  }
}

TEST_CASE("a rank of another job is turned away, and the run goes on") {
  RendezvousServer server(loopback(), 2, "token", soon());
  Arrival stray = rank_of(1, 2);
  stray.token = "another";
  const Ending ending = meet(server.place(), stray);
  CHECK(ending.exit_code == 2);
  CHECK(has(ending.sentence, "rank 0 of another job listens"));
  for (const Ending& of_rank : meet_all(server.place(), ranks(2))) CHECK(of_rank.exit_code == 0);
}

TEST_CASE("ranks that do not arrive are named on every rank that did") {
  RendezvousServer server(loopback(), 5, "token", soon());
  const auto endings = meet_all(server.place(), {rank_of(0, 5, 300), rank_of(2, 5, 300), rank_of(3, 5, 300)});
  for (const Ending& ending : endings) {
    CHECK(ending.exit_code == 5);
    CHECK(has(ending.sentence, "the meeting: ranks 1, 4 of 5 did not arrive within 0.3 s; hint: start every rank"));
  }
}

TEST_CASE("a rank that ends in the rendezvous, or gives up, ends it for every other rank by name") {
  for (const bool with_reason : {false, true}) {
    RendezvousServer server(loopback(), 3, "token", soon());
    std::vector<Ending> endings;
    std::thread others([&] {
      std::vector<std::thread> threads;
      endings.resize(2);
      for (const int rank : {0, 1}) {
        threads.emplace_back(
            [&, rank] { endings[static_cast<std::size_t>(rank)] = meet(server.place(), rank_of(rank, 3)); });
      }
      for (std::thread& thread : threads) thread.join();
    });
    {
      RendezvousClient client(server.place(), rank_of(2, 3), soon());
      if (with_reason) client.give_up("too few descriptors");
      if (with_reason) std::this_thread::sleep_for(milliseconds(50));
    }
    others.join();
    for (const Ending& ending : endings) {
      CHECK(ending.exit_code == 5);
      CHECK(has(ending.sentence, with_reason ? "rank 2 failed: too few descriptors"
                                             : "process 102 on node1 (rank 2) ended before all ranks were connected"));
    }
  }
}

TEST_CASE("when rank 0 is killed, every other rank ends with code 5 and says so") {
  for (const bool in_folder : {false, true}) {
    const std::string folder = temporary_folder();
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t rank_0 = ::fork();
    if (rank_0 == 0) {
      RendezvousServer server(in_folder ? RendezvousPlace{folder + "/socket", "", 0} : loopback(), 3, "token", soon());
      const int port = server.place().port;
      if (::write(ends[1], &port, sizeof(port)) != sizeof(port)) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    int port = 0;
    REQUIRE(::read(ends[0], &port, sizeof(port)) == sizeof(port));
    std::thread killer([&] {
      std::this_thread::sleep_for(milliseconds(100));
      ::kill(rank_0, SIGKILL);
      ::waitpid(rank_0, nullptr, 0);
    });
    const RendezvousPlace place = in_folder ? RendezvousPlace{folder + "/socket", "", 0} : loopback(port);
    for (const Ending& ending : meet_all(place, {rank_of(1, 3), rank_of(2, 3)})) {
      CAPTURE(ending.sentence);
      CHECK(ending.exit_code == 5);
      CHECK(has(ending.sentence, "ended before all ranks were connected"));
    }
    killer.join();
    ::close(ends[0]);
    ::close(ends[1]);
    std::filesystem::remove_all(folder);
  }
}

TEST_CASE("a foreign service on the port: ranks end in time and say so") {
  const auto ends = [](const std::function<void(int)>& serve, const std::string& part) {
    ForeignService service(serve);
    const Ending ending = meet(service.place(), rank_of(1, 2, 300));
    CAPTURE(ending.sentence);
    CHECK(ending.exit_code == 5);
    CHECK(has(ending.sentence, part));
    CHECK(has(ending.sentence, "MASTER_PORT"));
  };
  ends([](int) {}, "what listens there says nothing for 0.3 s");
  ends([](int fd) { send_all(fd, "SSH-2.0-OpenSSH_9.2\r\n", soon()); }, "answers like another program");
  ends([](int fd) { send_all(fd, "LRV", soon()); }, "what listens there says nothing for 0.3 s");
  ends([](int fd) { send_all(fd, to_bytes({RendezvousKind::kItems, "x"}), soon()); }, "answers like another program");
  ends([](int fd) { ::shutdown(fd, SHUT_RDWR); }, "what listens there closes the connection for 0.3 s");
}

TEST_CASE("a rank 0 that stops after it heard a rank: the rank ends in time and says so") {
  ForeignService service([](int fd) { send_all(fd, to_bytes({RendezvousKind::kHeard, ""}), soon()); });
  const Ending ending = meet(service.place(), rank_of(1, 2, 300));
  CHECK(ending.exit_code == 5);
  CHECK(has(ending.sentence, "does not answer before all ranks were connected"));
}

TEST_CASE("a member that does not exchange is named") {
  RendezvousServer server(loopback(), 2, "token", soon());
  std::optional<RendezvousClient> one;
  std::thread rank_1([&] { one.emplace(server.place(), rank_of(1, 2), soon()); });
  RendezvousClient zero(server.place(), rank_of(0, 2), soon());
  rank_1.join();
  try {
    zero.exchange("mesh/world", 0, 2, "ab", 0.2);
    FAIL("rank 1 was not missed");
  } catch (const CommError& error) {
    CHECK(has(error.what(), "rank 1 of the 2 in mesh/world did not leave an address within 0.2 s"));
  }
}

TEST_CASE("nobody listens") {
  RendezvousPlace place = loopback();
  listen_at(place, soon());  // a port that is free
  const Ending ending = meet(place, rank_of(1, 2, 200));
  CHECK(ending.exit_code == 5);
  CHECK(has(ending.sentence,
            fmt::format("rank 1 found nobody at 127.0.0.1:{} within 0.2 s (Connection refused)", place.port)));
}

TEST_CASE("a port in use, an address elsewhere, a host that is not there") {
  const auto refusal = [](RendezvousPlace place) -> std::string {
    try {
      listen_at(place, soon());
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  RendezvousPlace place = loopback();
  const auto listeners = listen_at(place, soon());
  CHECK(has(refusal(place), fmt::format("port {} is in use on this machine", place.port)));
  CHECK(has(refusal({"", "192.0.2.1", 0}), "MASTER_ADDR: expected an address of the machine that rank 0 runs on"));
  CHECK(has(refusal({"", "no such host", 0}), "cannot find the address of 'no such host'"));
  CHECK(has(refusal({"/nonexistent/socket", "", 0}), "cannot make the socket /nonexistent/socket: No such file"));
}

TEST_CASE("the rendezvous is served at MASTER_ADDR's address only") {
  const RendezvousServer server(loopback(), 2, "token", soon());
  UniqueFd fd;
  RendezvousPlace elsewhere = server.place();
  elsewhere.host = "127.0.0.2";  // also this machine
  CHECK(connect_to(addresses_of(elsewhere, soon()).at(0), soon(), fd) == ECONNREFUSED);
  CHECK(connect_to(addresses_of(server.place(), soon()).at(0), soon(), fd) == 0);
}
