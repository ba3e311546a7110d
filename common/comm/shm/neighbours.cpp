#include "common/comm/shm/neighbours.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>

#include "common/api/errors.h"
#include "common/base/files.h"

namespace lab::comm {
namespace {

/// What a rank tells all others about itself.
struct Introduction {
  std::int64_t process = 0;
  std::int32_t descriptor = -1;  ///< of a segment that it has made
  std::int32_t unused = 0;
  std::uint64_t token_at = 0;  ///< where the number below is in its memory
  std::uint64_t token = 0;
};

/// Whether it could map its host's segment.
struct MapReport {
  std::int64_t mapped = 0;
};

template <typename Record>
std::vector<Record> records_of_all(const GatherBytes& gather, const Record& own) {
  std::vector<Record> all;
  for (const std::string& bytes : gather(std::string(reinterpret_cast<const char*>(&own), sizeof(own))))
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof(own));
  return all;
}

std::string link_target(const char* path) {
  std::array<char, 256> target{};
  const ssize_t length = ::readlink(path, target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : "";
}

}  // namespace

std::string this_host() {
  std::string host = read_file("/proc/sys/kernel/random/boot_id");
  for (const char* name : {"/proc/self/ns/net", "/proc/self/ns/pid", "/proc/self/ns/user"}) host += link_target(name);
  return host;
}

bool read_memory(long process, std::uint64_t address, void* to, std::uint64_t num_bytes) {
  for (std::uint64_t done = 0; done < num_bytes;) {
    iovec own = {static_cast<char*>(to) + done, num_bytes - done};
    iovec theirs = {reinterpret_cast<void*>(address + done), num_bytes - done};
    const ssize_t copied = ::process_vm_readv(static_cast<pid_t>(process), &own, 1, &theirs, 1, 0);
    if (copied <= 0) return false;
    done += static_cast<std::uint64_t>(copied);
  }
  return true;
}

std::vector<int> number_hosts(const std::string& host, const GatherBytes& gather) {
  std::map<std::uint64_t, int> numbers;
  std::vector<int> hosts;
  for (const std::uint64_t of_rank : records_of_all(gather, std::uint64_t{std::hash<std::string>()(host)}))
    hosts.push_back(numbers.emplace(of_rank, static_cast<int>(numbers.size())).first->second);
  return hosts;
}

Neighbourhood find_neighbours(int rank, const std::vector<int>& hosts, const GatherBytes& gather) {
  const auto num_ranks = static_cast<int>(hosts.size());
  const auto host_of = [&](int other) { return hosts[static_cast<std::size_t>(other)]; };
  // Where only a debugger may read a process's memory, this makes every process of the user one.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  Neighbourhood found;
  // A rank that can read this number at its address shares memory with this one. In a process on another host, or in a
  // later one with the same number, something else stands there.
  const std::uint64_t token = (std::uint64_t{0x9e3779b9} << 32) + static_cast<std::uint64_t>(rank);
  Introduction own;
  own.process = ::getpid();
  own.token = token;
  own.token_at = reinterpret_cast<std::uint64_t>(&token);
  std::shared_ptr<ShmSegment> segment;
  try {
    segment = ShmSegment::create(num_ranks);
    own.descriptor = segment->descriptor();
  } catch (const UsageError& error) {
    found.obstacle = error.what();
  }
  const std::vector<Introduction> all = records_of_all(gather, own);
  Neighbours& group = found.neighbours;
  for (int other = 0; other < num_ranks; ++other) {
    const Introduction& one = all[static_cast<std::size_t>(other)];
    if (host_of(other) != host_of(rank)) continue;
    if (other == rank) group.self = static_cast<int>(group.members.size());
    std::uint64_t read_back = 0;
    const bool readable = other == rank || (read_memory(one.process, one.token_at, &read_back, sizeof(read_back)) &&
                                            read_back == one.token);
    group.members.push_back({other, one.process, readable});
  }
  const Introduction& first = all[static_cast<std::size_t>(group.members.front().rank)];
  if (group.self != 0 && segment) segment = ShmSegment::open(first.process, first.descriptor, num_ranks);
  // This gather also keeps every token in memory until all ranks have read it.
  const std::vector<MapReport> arrivals = records_of_all(gather, MapReport{segment ? 1 : 0});
  const bool all_mapped = std::all_of(
      group.members.begin(), group.members.end(),
      [&](const Neighbours::Member& member) { return arrivals[static_cast<std::size_t>(member.rank)].mapped == 1; });
  if (all_mapped) {
    group.segment = std::move(segment);
  } else {
    if (found.obstacle.empty()) found.obstacle = "a rank of this host may not map the memory of another";
    group.members = {group.members[static_cast<std::size_t>(group.self)]};
    group.self = 0;
  }
  return found;
}

}  // namespace lab::comm
