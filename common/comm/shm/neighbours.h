#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/shm/segment.h"

namespace lab::comm {

/// The ranks that share memory with this one.
struct Neighbours {
  struct Member {
    int rank = 0;
    long process = 0;
    bool readable = false;  ///< this process may read its memory
  };
  std::shared_ptr<ShmSegment> segment;
  std::vector<Member> members;  ///< in the order of ranks, this one included
  int self = 0;                 ///< index of this rank's entry
};

/// Gives every rank the same number of bytes of each, in the order of ranks.
using GatherBytes = std::function<std::vector<std::string>(const std::string& own)>;

/// The ranks of this host. Without shared memory between them, this rank alone.
struct Neighbourhood {
  Neighbours neighbours;
  std::string obstacle;  ///< why ranks of this host cannot share memory; empty: they do, or it is alone
};

/// The number of each rank's host, from 0 in the order of ranks. Every rank of the world calls it.
/// `host`: what ranks on one host have in common and no others have; see this_host().
std::vector<int> number_hosts(const std::string& host, const GatherBytes& gather);

/// Lets the ranks of this host share memory. Every rank of the world calls it, with the numbers of all hosts.
Neighbourhood find_neighbours(int rank, const std::vector<int>& hosts, const GatherBytes& gather);

/// The machine since it was started, and the namespaces that let its processes find and reach each other. A network
/// namespace of its own is a host of its own.
std::string this_host();

/// Copies memory of another process. False: it is gone, or that is forbidden.
bool read_memory(long process, std::uint64_t address, void* to, std::uint64_t num_bytes);

}  // namespace lab::comm
