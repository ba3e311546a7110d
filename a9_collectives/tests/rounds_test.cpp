#include <numeric>

#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/chunks.h"
#include "common/api/partition.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Rounds and bytes of every algorithm by the ledger, at P = 2 ... 17, against what its header promises.
namespace lab::a9 {
namespace {

constexpr std::int64_t kElements = 1000;  // of a chunk if the input must divide; few world sizes divide it

/// What each rank's ledger says of one call on `num_elements` int64 (as nccl-tests counts them).
std::vector<LedgerEntry> ledgers(const std::string& collective_name, const std::string& algorithm, int size,
                                 std::int64_t num_elements) {
  const Collective& collective = collective_named(collective_name);
  const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    const at::Tensor input = at::ones({collective.input_elements(num_elements, size)}, at::kLong);
    algorithm_named(collective, algorithm).run(input, comm.point_to_point());
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  std::vector<LedgerEntry> entries;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    REQUIRE(rank.report.ledger.size() == 1);
    entries.push_back(rank.report.ledger.front());
  }
  return entries;
}

std::uint64_t most_rounds(const std::vector<LedgerEntry>& entries) {
  std::uint64_t most = 0;
  for (const LedgerEntry& entry : entries) most = std::max(most, entry.rounds);
  return most;
}

std::uint64_t floor_lg(int size) {
  return size < 2 ? 0 : 1 + floor_lg(size / 2);
}
std::uint64_t ceil_lg(int size) {
  return floor_lg(size - 1) + 1;
}
bool power_of_two(int size) {
  return floor_power_of_two(size) == size;
}

template <typename Check>
void at_every_size(const Check& check) {
  for (int size = 2; size <= 17; ++size) {
    CAPTURE(size);
    check(size);
  }
}

TEST_CASE("binomial broadcast and Bruck all-gather take ceil(lg P) rounds") {
  at_every_size([](int size) {
    CHECK(most_rounds(ledgers("broadcast", "binomial", size, kElements)) == ceil_lg(size));
    const auto bruck = ledgers("allgather", "bruck", size, kElements * size);
    for (const LedgerEntry& entry : bruck) {
      CHECK(entry.rounds == ceil_lg(size));
      CHECK(entry.bytes_sent == static_cast<std::uint64_t>((size - 1) * kElements * 8));
    }
  });
}

TEST_CASE("recursive doubling: lg P rounds for powers of two, else floor(lg P) + 2") {
  at_every_size([](int size) {
    const std::uint64_t expected = floor_lg(size) + (power_of_two(size) ? 0 : 2);
    const auto reduce = ledgers("allreduce", "recursive_doubling", size, kElements);
    CHECK(most_rounds(reduce) == expected);
    CHECK(most_rounds(ledgers("allgather", "recursive_doubling", size, kElements * size)) == expected);
    CHECK(most_rounds(ledgers("reduce_scatter", "recursive_halving", size, kElements * size)) == expected);
    if (power_of_two(size)) {
      for (const LedgerEntry& entry : reduce) CHECK(entry.bytes_sent == floor_lg(size) * kElements * 8);
    }
  });
}

TEST_CASE("the all-reduce ring sends 2n - chunk(r+1) - chunk(r+2) from rank r, in 2(P-1) rounds") {
  at_every_size([](int size) {
    const auto entries = ledgers("allreduce", "ring", size, kElements);
    const std::vector<std::int64_t> chunks = uneven_sizes(kElements, size);
    for (int rank = 0; rank < size; ++rank) {
      const std::int64_t elements = 2 * kElements - chunks[static_cast<std::size_t>((rank + 1) % size)] -
                                    chunks[static_cast<std::size_t>((rank + 2) % size)];
      const LedgerEntry& entry = entries[static_cast<std::size_t>(rank)];
      CHECK(entry.bytes_sent == static_cast<std::uint64_t>(elements * 8));
      CHECK(entry.messages == static_cast<std::uint64_t>(2 * (size - 1)));
      CHECK(entry.rounds == static_cast<std::uint64_t>(2 * (size - 1)));
    }
  });
}

TEST_CASE("direct all-reduce sends n - chunk(r), then P-1 times chunk(r), in 2 rounds") {
  at_every_size([](int size) {
    const auto entries = ledgers("allreduce", "direct", size, kElements);
    const std::vector<std::int64_t> chunks = uneven_sizes(kElements, size);
    for (int rank = 0; rank < size; ++rank) {
      const std::int64_t own = chunks[static_cast<std::size_t>(rank)];
      CHECK(entries[static_cast<std::size_t>(rank)].bytes_sent ==
            static_cast<std::uint64_t>((kElements - own + (size - 1) * own) * 8));
    }
    CHECK(most_rounds(entries) == 2);
  });
}

TEST_CASE("rings and pairwise exchanges send (P-1)/P n in P-1 rounds; the direct ones in one") {
  at_every_size([](int size) {
    const auto check = [&](const char* collective, const char* algorithm, std::uint64_t rounds) {
      INFO(collective << " " << algorithm);
      for (const LedgerEntry& entry : ledgers(collective, algorithm, size, kElements * size)) {
        CHECK(entry.bytes_sent == static_cast<std::uint64_t>((size - 1) * kElements * 8));
        CHECK(entry.messages == static_cast<std::uint64_t>(size - 1));
        CHECK(entry.rounds == rounds);
      }
    };
    const auto steps = static_cast<std::uint64_t>(size - 1);
    check("allgather", "ring", steps);
    check("allgather", "direct", 1);
    check("reduce_scatter", "ring", steps);
    check("reduce_scatter", "pairwise", steps);
    check("all_to_all", "pairwise", steps);
    check("all_to_all", "direct", 1);
  });
}

TEST_CASE("Bruck's all-to-all moves each chunk once for each binary digit of its distance, in ceil(lg P) rounds") {
  at_every_size([](int size) {
    std::uint64_t rounds = 0, chunks = 0;
    for (int digit = 1; digit < size; digit *= 2) {
      ++rounds;
      for (int distance = 1; distance < size; ++distance) chunks += (distance & digit) != 0 ? 1 : 0;
    }
    for (const LedgerEntry& entry : ledgers("all_to_all", "bruck", size, kElements * size)) {
      CHECK(entry.bytes_sent == chunks * static_cast<std::uint64_t>(kElements * 8));
      CHECK(entry.messages == rounds);
      CHECK(entry.rounds == rounds);
    }
  });
}

TEST_CASE("Rabenseifner sends 2(P-1)/P n for powers of two, and what its chunk table says otherwise") {
  at_every_size([](int size) {
    const auto entries = ledgers("allreduce", "rabenseifner", size, kElements);
    const int power = floor_power_of_two(size);
    const int aside = size - power;
    CHECK(most_rounds(entries) == 2 * floor_lg(size) + (aside == 0 ? 0 : 2));
    const std::vector<std::int64_t> chunks = uneven_sizes(kElements, power);
    for (int rank = 0; rank < size; ++rank) {
      const bool in_pair = rank < 2 * aside;
      std::int64_t elements = in_pair ? kElements : 0;  // handed over, or given back
      if (!in_pair || rank % 2 == 1) {
        // A virtual rank sends away all chunks but its own while halving. While doubling it sends, in the step with
        // distance d, the d chunks that it holds.
        const int self = in_pair ? rank / 2 : rank - aside;
        elements += kElements - chunks[static_cast<std::size_t>(self)];
        for (int distance = 1; distance < power; distance *= 2) {
          const int first = self & ~(distance - 1);
          elements += std::accumulate(chunks.begin() + first, chunks.begin() + first + distance, std::int64_t{0});
        }
      }
      CHECK(entries[static_cast<std::size_t>(rank)].bytes_sent == static_cast<std::uint64_t>(elements * 8));
    }
    if (aside == 0 && kElements % size == 0) {
      for (const LedgerEntry& entry : entries)
        CHECK(entry.bytes_sent == static_cast<std::uint64_t>(2 * (size - 1) * kElements / size * 8));
    }
  });
}

TEST_CASE("the chain passes n bytes on from every rank but the last, in P-2+k rounds") {
  const std::int64_t elements = 3 << 15;  // int64: three segments
  at_every_size([&](int size) {
    const auto entries = ledgers("broadcast", "chain", size, elements);
    for (int rank = 0; rank < size; ++rank) {
      CHECK(entries[static_cast<std::size_t>(rank)].bytes_sent ==
            static_cast<std::uint64_t>(rank == size - 1 ? 0 : elements * 8));
    }
    CHECK(most_rounds(entries) == static_cast<std::uint64_t>(size - 2 + 3));
  });
}

TEST_CASE("the simple algorithms go through one rank") {
  at_every_size([](int size) {
    const auto steps = static_cast<std::uint64_t>(size - 1);
    const auto flat = ledgers("broadcast", "flat", size, kElements);
    CHECK(flat[0].bytes_sent == steps * kElements * 8);
    CHECK(most_rounds(flat) == steps);
    const auto reduce = ledgers("allreduce", "gather_broadcast", size, kElements);
    CHECK(reduce[0].bytes_sent == steps * kElements * 8);
    CHECK(reduce[1].bytes_sent == kElements * 8);
    const auto gather = ledgers("allgather", "through_root", size, kElements * size);
    CHECK(gather[0].bytes_sent == steps * static_cast<std::uint64_t>(size) * kElements * 8);
    CHECK(gather[1].bytes_sent == kElements * 8);
  });
}

}  // namespace
}  // namespace lab::a9
