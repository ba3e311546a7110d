#include "grading/hostile/hostile_place.h"

#include <chrono>
#include <filesystem>
#include <string>

#include "common/comm/rendezvous/socket.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace lab::grading {
namespace {

using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

HostileEntry archive_entry() {
  HostileEntry entry;
  entry.name = entry.archive = "zip_slip";
  return entry;
}

/// A place in which an archive has been handed in.
struct UsedPlace {
  TemporaryFolder folder;
  HostilePlace place{folder.file("place"), "/suite", "/suite/build"};
  std::string hand_in = place.hand_in(archive_entry(), "a9_collectives");

  bool has_damage(const std::string& line) const {
    for (const std::string& each : place.damage())
      if (each == line) return true;
    return false;
  }
};

TEST_CASE("a hostile hand-in that touches nothing does no damage, whatever the results are") {
  const UsedPlace used;
  CHECK(std::filesystem::exists(used.hand_in));
  CHECK(used.place.damage().empty());
  write_bytes(used.place.results() + "/report.md", "0 of 100");
  CHECK(used.place.damage().empty());
}

TEST_CASE("what is new, changed or gone in a grader's folders is damage, and what is left in TMPDIR") {
  const UsedPlace used;
  write_bytes(used.place.home() + "/secret.txt", "changed");
  write_bytes(used.place.temporary() + "/left", "x");
  std::filesystem::remove_all(used.place.neighbour() + "/a9_collectives/student/broadcast");
  CHECK(used.place.damage().size() == 4);
  CHECK(used.has_damage("home/secret.txt was changed"));
  CHECK(used.has_damage("tmp/left is new"));
  CHECK(used.has_damage("hand_ins/bob/a9_collectives/student/broadcast is gone"));
}

TEST_CASE("a connection to the port of a hostile place is damage") {
  const UsedPlace used;
  const std::string port = used.place.filled_in("@PORT@");
  comm::RendezvousPlace address;
  address.host = "127.0.0.1";
  address.port = std::stoi(port);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  UniqueFd connection;
  REQUIRE(comm::connect_to(comm::resolve_addresses(address, deadline).at(0), deadline, connection) == 0);
  CHECK(used.has_damage("port " + port + " was connected to"));
}

TEST_CASE("the secrets of a hostile place are known wherever they turn up") {
  const UsedPlace used;
  const std::string secret = read_bytes(used.place.home() + "/secret.txt");
  CHECK(used.place.is_told_by("error: " + secret));
  CHECK(used.place.is_told_by(read_bytes(used.place.neighbour() + "/a9_collectives/student/broadcast/flat.cpp")));
  CHECK(used.place.is_told_by("LAB_HOSTILE=" + used.place.mark()));
  CHECK_FALSE(used.place.is_told_by("0 of 100"));
}

TEST_CASE("a hostile file is handed in with the names of its place") {
  const TemporaryFolder folder;
  HostilePlace place(folder.file("place"), "/suite", "/suite/build");
  HostileEntry entry;
  entry.file = "student/x.cpp";
  entry.code = "@SOURCE@ @BUILD@ @HOME@ @HOME@\n";
  const std::string path = place.hand_in(entry, "x_lab");
  CHECK(read_bytes(path + "/x_lab/student/x.cpp") == "/suite /suite/build " + place.home() + " " + place.home() + "\n");
}

}  // namespace
}  // namespace lab::grading
