#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/api/errors.h"
#include "common/comm/group.h"
#include "common/comm/relay/relay_world.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// Ranks that are given work by their relay.
namespace lab::comm {
namespace {

/// Gives each rank the same pieces of work, and keeps what comes back as "rank: result, bytes sent".
struct Pieces final : RelayWork {
  std::vector<std::string> pieces;
  std::vector<std::size_t> num_given = {0, 0};
  std::vector<std::string> results;
  std::vector<pid_t> processes;  ///< of which they came

  explicit Pieces(std::vector<std::string> all) : pieces(std::move(all)) {}
  std::optional<std::string> next(int rank, pid_t) override {
    std::size_t& given = num_given[static_cast<std::size_t>(rank)];
    if (given == pieces.size()) return std::nullopt;
    return pieces[given++];
  }
  void done(int rank, pid_t process, std::string result, const RelayCost& spent) override {
    processes.push_back(process);
    std::uint64_t bytes = 0;
    for (const LedgerEntry& entry : spent.ledger) bytes += entry.bytes_sent;
    results.push_back(fmt::format("{}: {}, {}", rank, result, bytes));
  }
};

/// Two ranks with work; what each function throws is sent to the others as its failure.
struct WorkingRanks {
  std::vector<std::string> messages = {"", ""};
  std::vector<std::string> results;
  std::optional<RelayFailure> failure;

  explicit WorkingRanks(const std::function<void(const RelayEnd& end)>& work, int num_pieces = 2) {
    Pieces pieces(std::vector<std::string>(static_cast<std::size_t>(num_pieces), "piece"));
    RelayOptions options;
    options.timeout_seconds = 2;
    options.max_message_bytes = options.max_posted_bytes = 1u << 20;
    RelayWorld world(2, options);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank, descriptor = ::dup(world.rank_end(rank))] {
        const RelayEnd end = RelayWorld::join_by(descriptor, rank, 2);
        messages[static_cast<std::size_t>(rank)] = testing::get_message<Error>([&] {
          work(end);
          end.transport->close();
        });
      });
    }
    world.serve(&pieces);
    for (std::thread& rank : ranks) rank.join();
    for (const pid_t process : pieces.processes) CHECK(process == ::getpid());
    results = pieces.results;
    std::sort(results.begin(), results.end());
    failure = world.failure();
  }
};

void swap_with_other(Transport& transport, std::int64_t size = 1, bool contract_only = false) {
  std::vector<std::shared_ptr<Pending>> pending;
  for (const Direction direction : {Direction::kSend, Direction::kRecv}) {
    Message message;
    message.direction = direction;
    message.peer = 1 - transport.rank();
    message.tensor = at::zeros({size});
    message.contract_only = contract_only;
    message.group = contract_only ? kCollectiveChannel : 0;
    pending.push_back(transport.post(std::move(message)));
  }
  for (const auto& each : pending) transport.wait(*each);
}

TEST_CASE("relay: gives out work, takes it back, and counts each piece by itself") {
  const WorkingRanks ranks([](const RelayEnd& end) {
    for (int i = 1; const auto piece = end.next_work(); ++i) {
      for (int j = 0; j < i; ++j) swap_with_other(*end.transport);
      end.return_result(fmt::format("{} {}", *piece, i));
    }
  });
  CHECK_FALSE(ranks.failure);
  CHECK(ranks.results == std::vector<std::string>{"0: piece 1, 4", "0: piece 2, 8", "1: piece 1, 4", "1: piece 2, 8"});
}

TEST_CASE("relay: messages outside of any work, results that were not asked for, and too much at once end the rank") {
  using testing::contains;
  const auto failed = [](const std::function<void(const RelayEnd& end)>& work) {
    const WorkingRanks ranks(work);
    return ranks.failure ? ranks.failure->message : "";
  };
  CHECK(contains(failed([](const RelayEnd& end) { swap_with_other(*end.transport); }), "belongs to no work"));
  CHECK(contains(failed([](const RelayEnd& end) { end.collectives->barrier(whole_world(end.transport->rank(), 2)); }),
                 "belongs to no work"));
  CHECK(contains(failed([](const RelayEnd& end) {
                   end.next_work();
                   end.return_result("once");
                   swap_with_other(*end.transport);
                 }),
                 "belongs to no work"));
  CHECK(contains(failed([](const RelayEnd& end) {
                   end.next_work();
                   end.return_result("once");
                   end.return_result("twice");
                   end.next_work();
                 }),
                 "was not asked for"));
  CHECK(contains(failed([](const RelayEnd& end) {
                   end.next_work();
                   Message message;
                   message.peer = 1 - end.transport->rank();
                   message.tensor = at::zeros({1000});
                   for (int i = 0; i < 300; ++i) end.transport->post(Message(message));
                   end.return_result("all sent");
                   end.next_work();
                 }),
                 "that it has not waited for"));
}

TEST_CASE("relay: comparing contracts is free for collectives only, and not without end") {
  const auto failed = [](const std::function<void(const RelayEnd& end)>& work) {
    const WorkingRanks ranks([&](const RelayEnd& end) {
      while (end.next_work()) {
        work(end);
        end.return_result("done");
      }
    });
    return ranks.failure ? ranks.failure->message : "";
  };
  const auto compares = [](std::uint32_t group, int tag) {
    return [group, tag](const RelayEnd& end) {
      Message message;
      message.peer = 1 - end.transport->rank();
      message.group = group;
      message.tag = tag;
      message.tensor = at::zeros({1});
      message.contract_only = true;
      end.transport->post(std::move(message));
    };
  };
  CHECK(testing::contains(failed(compares(0, 0)), "a comparison of contracts that is not a collective's"));
  CHECK(testing::contains(failed(compares(kCollectiveChannel, 1)), "that is not a collective's"));
  const auto often = [&](int times) {
    return [times, compare = compares(kCollectiveChannel, 0)](const RelayEnd& end) {
      for (int i = 0; i < times; ++i) compare(end);
    };
  };
  CHECK(failed(often(1 << 14)) == "");  // in each of two pieces of work
  CHECK(testing::contains(failed(often((1 << 14) + 1)), "more than 16384 comparisons of contracts in one task"));
}

TEST_CASE("relay: what ranks tell each other by disagreeing ends the world, which takes no result from them") {
  for (const bool collective : {false, true}) {
    CAPTURE(collective);
    const WorkingRanks ranks([&](const RelayEnd& end) {
      end.next_work();
      const int rank = end.transport->rank();
      const std::string heard = testing::get_message<ContractError>([&] {
        if (collective) {
          end.collectives->all_reduce(at::zeros({rank + 41}), whole_world(rank, 2));
        } else {
          swap_with_other(*end.transport, rank + 41, true);
        }
      });
      CHECK(testing::contains(heard, "[41]"));
      end.return_result("I have heard: " + heard);
      end.next_work();
    });
    CHECK(ranks.results.empty());
    REQUIRE(ranks.failure);
    CHECK(ranks.failure->exit_code == ExitCode::kContract);
  }
}

}  // namespace
}  // namespace lab::comm
