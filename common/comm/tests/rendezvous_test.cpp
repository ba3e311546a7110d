#include "common/comm/rendezvous/rendezvous.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "common/comm/tests/rendezvous_ranks.h"
#include "common/testing/get_message.h"

using namespace lab;
using namespace lab::comm;
using namespace lab::comm::rendezvous_ranks;

TEST_CASE("every rank meets every other, over a port and over a socket in a folder") {
  const std::string folder = temporary_folder();
  // Too long for a socket's address.
  const std::string deep = folder + "/" + std::string(90, 'x') + "/" + std::string(90, 'y');
  std::filesystem::create_directories(deep);
  for (const int size : {1, 2, 3, 8, 17}) {
    for (const RendezvousPlace& place :
         {loopback(), RendezvousPlace{folder + "/socket", "", 0}, RendezvousPlace{deep + "/socket", "", 0}}) {
      CAPTURE(size);
      RendezvousServer server(place, size, "token", deadline_in());
      for (const Ending& ending : meet_all(server.place(), ranks(size))) {
        CAPTURE(ending.message);
        CHECK(ending.exit_code == 0);
      }
      CHECK((place.socket_path.empty() || !std::filesystem::exists(place.socket_path)));  // unlinked by now
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("ranks that were started differently are told so on every rank") {
  std::vector<Arrival> arrivals = ranks(4);
  arrivals[2].fingerprint = "--seed: 7\n";
  RendezvousServer server(loopback(), 4, "token", deadline_in());
  for (const Ending& ending : meet_all(server.place(), arrivals)) {
    CHECK(ending.exit_code == 2);
    CHECK(has(ending.message, "started differently: --seed: expected 42 as on rank 0, got 7 on rank 2; hint:"));
  }
}

TEST_CASE("another WORLD_SIZE is told at once on every rank, also on one that comes later") {
  auto server = std::make_unique<RendezvousServer>(loopback(), 3, "token", deadline_in());
  const RendezvousPlace place = server->place();
  std::vector<Ending> endings = meet_all(place, {find_rank(0, 3), find_rank(1, 2)});
  std::thread last([&] {
    std::this_thread::sleep_for(milliseconds(50));
    endings.push_back(meet(place, find_rank(2, 3)));
  });
  server.reset();  // as rank 0 does when it fails
  last.join();
  REQUIRE(endings.size() == 3);
  for (const Ending& ending : endings) {
    CHECK(ending.exit_code == 2);
    CHECK(has(ending.message, "WORLD_SIZE: expected 3 as on rank 0, got 2 on rank 1"));
  }
  RendezvousServer two(loopback(), 2, "token", deadline_in());
  CHECK(has(meet(two.place(), find_rank(2, 3)).message, "WORLD_SIZE: expected 2 as on rank 0, got 3 on rank 2"));
}

TEST_CASE("ranks that do not arrive are named on every rank that did") {
  RendezvousServer server(loopback(), 5, "token", deadline_in());
  const auto endings = meet_all(server.place(), {find_rank(0, 5, 300), find_rank(2, 5, 300), find_rank(3, 5, 300)});
  for (const Ending& ending : endings) {
    CHECK(ending.exit_code == 5);
    CHECK(has(ending.message, "rendezvous: ranks 1, 4 of 5 did not arrive within 0.3 s; hint: start every rank"));
  }
}

TEST_CASE("a rank that ends in the rendezvous, or gives up, ends it for every other rank by name") {
  for (const bool with_reason : {false, true}) {
    RendezvousServer server(loopback(), 3, "token", deadline_in());
    std::vector<Ending> endings;
    std::thread others([&] {
      std::vector<std::thread> threads;
      endings.resize(2);
      for (const int rank : {0, 1}) {
        threads.emplace_back(
            [&, rank] { endings[static_cast<std::size_t>(rank)] = meet(server.place(), find_rank(rank, 3)); });
      }
      for (std::thread& thread : threads) thread.join();
    });
    {
      RendezvousClient client(server.place(), find_rank(2, 3), deadline_in());
      if (with_reason) client.give_up("too few descriptors");
      if (with_reason) std::this_thread::sleep_for(milliseconds(50));
    }
    others.join();
    for (const Ending& ending : endings) {
      CHECK(ending.exit_code == 5);
      CHECK(has(ending.message, with_reason ? "rank 2 failed: too few descriptors"
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
      RendezvousServer server(in_folder ? RendezvousPlace{folder + "/socket", "", 0} : loopback(), 3, "token",
                              deadline_in());
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
    for (const Ending& ending : meet_all(place, {find_rank(1, 3), find_rank(2, 3)})) {
      CAPTURE(ending.message);
      CHECK(ending.exit_code == 5);
      CHECK(has(ending.message, "ended before all ranks were connected"));
    }
    killer.join();
    ::close(ends[0]);
    ::close(ends[1]);
    std::filesystem::remove_all(folder);
  }
}

TEST_CASE("a member that does not exchange is named") {
  RendezvousServer server(loopback(), 2, "token", deadline_in());
  std::optional<RendezvousClient> one;
  std::thread rank_1([&] { one.emplace(server.place(), find_rank(1, 2), deadline_in()); });
  RendezvousClient zero(server.place(), find_rank(0, 2), deadline_in());
  rank_1.join();
  try {
    zero.exchange("mesh/world", 0, 2, "ab", 0.2);
    FAIL("rank 1 was not missed");
  } catch (const CommError& error) {
    CHECK(has(error.what(), "rank 1 of the 2 in mesh/world did not leave an address within 0.2 s"));
  }
}

TEST_CASE("rank 0 does not listen") {
  RendezvousPlace place = loopback();
  listen_at(place, deadline_in());  // a port that is free
  const Ending ending = meet(place, find_rank(1, 2, 200));
  CHECK(ending.exit_code == 5);
  CHECK(
      has(ending.message,
          fmt::format("rank 1 could not reach rank 0 at 127.0.0.1:{} within 0.2 s (Connection refused)", place.port)));
}

TEST_CASE("a port in use, an address elsewhere, a host that is not there") {
  const auto refusal = [](RendezvousPlace place) -> std::string {
    return lab::testing::get_message<UsageError>([&] { listen_at(place, deadline_in()); });
  };
  RendezvousPlace place = loopback();
  const auto listeners = listen_at(place, deadline_in());
  CHECK(has(refusal(place), fmt::format("port {} is in use on this machine", place.port)));
  CHECK(has(refusal({"", "192.0.2.1", 0}), "MASTER_ADDR: expected an address of the machine that rank 0 runs on"));
  CHECK(has(
      lab::testing::get_message<CommError>([] {
        resolve_addresses({"", "no such host", 0}, std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
      }),
      "could not find the address of 'no such host' before the time-out (Name or service not known)"));
  CHECK(has(refusal({"/nonexistent/socket", "", 0}), "cannot create the socket /nonexistent/socket: No such file"));
}

TEST_CASE("the rendezvous is served at MASTER_ADDR's address only") {
  const RendezvousServer server(loopback(), 2, "token", deadline_in());
  UniqueFd fd;
  RendezvousPlace elsewhere = server.place();
  elsewhere.host = "127.0.0.2";  // also this machine
  CHECK(connect_to(resolve_addresses(elsewhere, deadline_in()).at(0), deadline_in(), fd) == ECONNREFUSED);
  CHECK(connect_to(resolve_addresses(server.place(), deadline_in()).at(0), deadline_in(), fd) == 0);
}
