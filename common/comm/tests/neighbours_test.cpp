#include "common/comm/shm/neighbours.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "common/testing/plain_test.h"

namespace lab::comm {
namespace {

/// What rank 0 finds if rank 1 introduces itself as `change` makes of rank 0's words, and has mapped memory or not.
Neighbourhood with_rank_1(const std::function<void(std::string& words)>& change, char has_mapped,
                          const std::vector<int>& hosts = {0, 0}) {
  int turn = 0;
  return find_neighbours(0, hosts, [&](const std::string& own) {
    std::string theirs = own;
    if (turn++ == 0) {
      change(theirs);
    } else {
      theirs[0] = has_mapped;
    }
    return std::vector<std::string>{own, theirs};
  });
}

TEST_CASE("ranks of one host share memory, if both can map it") {
  const Neighbourhood both = with_rank_1([](std::string&) {}, 1);
  CHECK(both.obstacle.empty());
  REQUIRE(both.neighbours.members.size() == 2);
  CHECK(both.neighbours.segment != nullptr);
  CHECK(both.neighbours.members[1].readable);
  const Neighbourhood one = with_rank_1([](std::string&) {}, 0);
  CHECK(one.obstacle == "a rank of this host may not map the memory of another");
  CHECK(one.neighbours.members.size() == 1);
  CHECK(one.neighbours.segment == nullptr);
}

TEST_CASE("a rank on another host is not a neighbour, and no obstacle is reported") {
  const Neighbourhood found = with_rank_1([](std::string&) {}, 1, {0, 1});
  CHECK(found.obstacle.empty());
  CHECK(found.neighbours.members.size() == 1);
}

TEST_CASE("hosts are numbered in the order of ranks, by what their ranks have in common") {
  const auto numbers = [](const std::vector<int>& changed) {
    return number_hosts("here", [&](const std::string& own) {
      std::vector<std::string> all;
      for (const int change : changed) all.emplace_back(own).front() += static_cast<char>(change);
      return all;
    });
  };
  CHECK(numbers({0}) == std::vector<int>{0});
  CHECK(numbers({5, 5, 0, 7, 0, 5}) == std::vector<int>{0, 0, 1, 2, 1, 0});
}

TEST_CASE("a process whose greeting is not where it says is not read from") {
  const Neighbourhood found =
      with_rank_1([](std::string& words) { words.back() = static_cast<char>(words.back() + 1); }, 1);
  REQUIRE(found.neighbours.members.size() == 2);
  CHECK_FALSE(found.neighbours.members[1].readable);
}

TEST_CASE("shared memory has no name, and another process maps it by its descriptor") {
  const auto segment = ShmSegment::create(2);
  const long parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto theirs = ShmSegment::open(parent, segment->descriptor(), 2);
    if (!theirs) ::_exit(1);
    char* const place = theirs->ring(1, 0).reserve(5);
    std::memcpy(place, "hello", 5);
    theirs->ring(1, 0).publish(5);
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  const ShmRing::Record record = segment->ring(1, 0).front();
  CHECK(std::string(record.bytes, record.size) == "hello");
  CHECK(ShmSegment::open(1 << 30, 0, 2) == nullptr);
}

TEST_CASE("memory of another process: copied, or not at all") {
  const std::string text = "over there";
  std::string here(text.size(), ' ');
  CHECK(read_memory(::getpid(), reinterpret_cast<std::uint64_t>(text.data()), here.data(), here.size()));
  CHECK(here == text);
  CHECK_FALSE(read_memory(::getpid(), 8, here.data(), here.size()));
  CHECK_FALSE(read_memory(1 << 30, reinterpret_cast<std::uint64_t>(text.data()), here.data(), here.size()));
}

}  // namespace
}  // namespace lab::comm
