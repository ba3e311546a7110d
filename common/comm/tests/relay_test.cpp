#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/base/errors.h"
#include "common/base/subprocess.h"
#include "common/comm/group.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/relay_world.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"

// What a relay makes of ranks that do not keep to its protocol; the contract suite tests those that do.
namespace lab::comm {
namespace {

RelayFrame sample_frame() {
  RelayFrame frame;
  frame.kind = RelayFrame::Kind::kPost;
  frame.id = 7;
  frame.channel = {Direction::kRecv, 3, kCollectiveChannel | 5, -2};
  frame.members = {3, 0};
  frame.operation = "all_reduce";
  frame.file = "a.cpp";
  frame.line = 41;
  frame.dtype = static_cast<int>(at::kDouble);
  frame.sizes = {2, 0, 3};
  frame.contract_only = true;
  frame.step = std::uint64_t{1} << 40;
  frame.seconds = 0.1;
  frame.exit_code = 6;
  frame.text = "why\n\xff";
  frame.payload_bytes = 5;
  return frame;
}

TEST_CASE("relay frames: read back wherever the stream is cut") {
  const RelayFrame sent = sample_frame();
  const std::string stream = to_bytes(sent) + "12345" + to_bytes(RelayFrame());
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    RelayFrameReader reader(5);
    std::vector<RelayFrameReader::Received> received;
    for (const std::string& part : {stream.substr(0, cut), stream.substr(cut)}) {
      reader.add(part.data(), part.size());
      while (auto next = reader.next()) received.push_back(std::move(*next));
    }
    REQUIRE(received.size() == 2);
    const RelayFrame& got = received[0].frame;
    CHECK(got.kind == sent.kind);
    CHECK(got.id == sent.id);
    CHECK(got.channel == sent.channel);
    CHECK(got.members == sent.members);
    CHECK(got.operation == sent.operation);
    CHECK(got.file == sent.file);
    CHECK(got.line == sent.line);
    CHECK(got.dtype == sent.dtype);
    CHECK(got.sizes == sent.sizes);
    CHECK(got.contract_only == sent.contract_only);
    CHECK(got.step == sent.step);
    CHECK(got.seconds == sent.seconds);
    CHECK(got.exit_code == sent.exit_code);
    CHECK(got.text == sent.text);
    CHECK(received[0].payload == "12345");
    CHECK(received[1].payload.empty());
  }
}

TEST_CASE("relay frames: any other bytes are refused, or wait for more") {
  const std::string bytes = to_bytes(sample_frame());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string wrong = bytes + "12345";
      wrong[at] = static_cast<char>(wrong[at] ^ flip);
      RelayFrameReader reader(5);
      reader.add(wrong.data(), wrong.size());
      try {
        (void)reader.next();
      } catch (const ContractError&) {
      }
    }
  }
  RelayFrameReader reader(4);
  reader.add(bytes.data(), bytes.size());
  CHECK(testing::message_of<ContractError>([&] { reader.next(); }) == "a payload of 5 B; expected at most 4");
}

/// Two ranks: 0 is the given function, which may write anything; 1 receives 4 bytes from it.
struct Encounter {
  std::string message;  ///< of rank 1's failure; empty: it received them
  std::vector<LedgerEntry> ledger;

  explicit Encounter(const std::function<void(int descriptor)>& stranger) {
    RelayWorld world(2, {2, 1u << 20, 3u << 20});
    UniqueFd own(::dup(world.rank_end(0))), other(::dup(world.rank_end(1)));
    std::thread rank_1([&] {
      const auto transport = RelayWorld::join_by(::dup(other.get()), 1, 2).transport;
      other.reset();
      message = testing::message_of<Error>([&] {
        Message receive;
        receive.direction = Direction::kRecv;
        receive.tensor = at::zeros({1});
        const auto pending = transport->start_recv(receive);
        transport->wait(*pending);
        transport->close();
      });
    });
    std::thread rank_0([&] {
      stranger(own.get());
      own.reset();
    });
    world.serve();
    rank_0.join();
    rank_1.join();
    ledger = world.ledger_of(0);
  }
};

void write_all(int descriptor, const std::string& bytes) {
  (void)::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

RelayFrame right_send() {
  RelayFrame frame;
  frame.channel = {Direction::kSend, 1, 0, 0};
  frame.operation = "message";
  frame.dtype = static_cast<int>(at::kFloat);
  frame.sizes = {1};
  frame.payload_bytes = 4;
  return frame;
}

TEST_CASE("relay: a rank that says nothing, ends, or writes anything else fails alone and by name") {
  using testing::contains;
  const auto said = [](const std::function<void(RelayFrame&)>& change) {
    return Encounter([&](int descriptor) {
             RelayFrame frame = right_send();
             change(frame);
             write_all(descriptor,
                       to_bytes(frame) + std::string(frame.payload_bytes > 64 ? 0 : frame.payload_bytes, 'x'));
             char byte = 0;
             (void)::recv(descriptor, &byte, 1, 0);
           })
        .message;
  };
  CHECK(Encounter([](int) {}).message == "rank 0 failed: its process has ended");
  CHECK(contains(Encounter([](int descriptor) { write_all(descriptor, std::string(100, '\xff')); }).message,
                 "rank 0 failed: it sent the relay something invalid: a frame of"));
  CHECK(contains(said([](RelayFrame& frame) { frame.channel.peer = 0; }), "a message for rank 0"));
  CHECK(contains(said([](RelayFrame& frame) { frame.channel.peer = 2; }), "a message for rank 2"));
  CHECK(contains(said([](RelayFrame& frame) { frame.dtype = 1000; }), "dtype 1000"));
  // LibTorch knows these numbers, but no tensor has them.
  CHECK(contains(said([](RelayFrame& frame) { frame.dtype = static_cast<int>(at::ScalarType::Undefined); }),
                 "rank 0 failed: it sent the relay something invalid"));
  CHECK(contains(said([](RelayFrame& frame) { frame.sizes = {-1}; }), "a size that no tensor has"));
  CHECK(contains(said([](RelayFrame& frame) {
                   frame.sizes = {std::int64_t{1} << 40, std::int64_t{1} << 40};
                 }),
                 "a size that no tensor has"));
  CHECK(contains(said([](RelayFrame& frame) { frame.sizes = {2}; }), "a payload of 4 B for a tensor of 8 B"));
  CHECK(contains(said([](RelayFrame& frame) {
                   frame.sizes = {1 << 20};
                   frame.payload_bytes = 1 << 22;
                 }),
                 "expected at most 1048576"));
  CHECK(contains(said([](RelayFrame& frame) { frame.kind = RelayFrame::Kind::kDone; }), "only the relay sends"));
  CHECK(contains(said([](RelayFrame& frame) {
                   frame.kind = RelayFrame::Kind::kWait;
                   frame.payload_bytes = 0;
                 }),
                 "never posted"));
  CHECK(contains(said([](RelayFrame& frame) { frame.kind = RelayFrame::Kind::kNext; }), "there is none"));
  CHECK(contains(said([](RelayFrame& frame) { frame.kind = RelayFrame::Kind::kHandIn; }), "nobody asked for"));
  CHECK(contains(said([](RelayFrame& frame) { frame.kind = RelayFrame::Kind::kCollect; }), "a group that cannot be"));
  CHECK(contains(said([](RelayFrame& frame) {
                   frame.kind = RelayFrame::Kind::kCollect;
                   frame.operation = "all_reduce";
                   frame.members = {0, 1};
                 }),
                 "deadlock: rank 0 waits to receive"));
}

TEST_CASE("relay: counts what a rank sends, whatever step or label it claims") {
  const Encounter labelled([](int descriptor) {
    RelayFrame frame = right_send();
    frame.operation = "all_reduce";
    write_all(descriptor, to_bytes(frame) + "1234");
  });
  REQUIRE(labelled.ledger.size() == 1);
  CHECK(labelled.ledger[0].operation == "message");
  CHECK(labelled.ledger[0].bytes_sent == 4);
  const Encounter met([](int descriptor) {
    RelayFrame frame = right_send();
    frame.step = 1000;
    frame.text = "all_reduce";
    write_all(descriptor, to_bytes(frame) + "1234");
    RelayFrame wait;
    wait.kind = RelayFrame::Kind::kWait;
    write_all(descriptor, to_bytes(wait));
    RelayFrameReader reader(0);
    char bytes[4096];
    const ssize_t got = ::recv(descriptor, bytes, sizeof bytes, 0);
    reader.add(bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const auto answer = reader.next();
    if (!answer || answer->frame.kind != RelayFrame::Kind::kDone) return;
    RelayFrame close;
    close.kind = RelayFrame::Kind::kClose;
    write_all(descriptor, to_bytes(close));
    (void)::recv(descriptor, bytes, sizeof bytes, 0);
  });
  CHECK(met.message == "nothing was thrown");
  REQUIRE(met.ledger.size() == 1);
  CHECK(met.ledger[0].operation == "message");
  CHECK(met.ledger[0].messages == 1);
  CHECK(met.ledger[0].bytes_sent == 4);
  CHECK(met.ledger[0].rounds == 1);
}

/// Gives each rank the same pieces of work, and keeps what comes back as "rank: result, bytes sent".
struct Pieces final : RelayWork {
  std::vector<std::string> pieces;
  std::vector<std::size_t> num_given = {0, 0};
  std::vector<std::string> results;

  explicit Pieces(std::vector<std::string> all) : pieces(std::move(all)) {}
  std::optional<std::string> next(int rank) override {
    std::size_t& given = num_given[static_cast<std::size_t>(rank)];
    if (given == pieces.size()) return std::nullopt;
    return pieces[given++];
  }
  void done(int rank, std::string result, const std::vector<LedgerEntry>& spent) override {
    std::uint64_t bytes = 0;
    for (const LedgerEntry& entry : spent) bytes += entry.bytes_sent;
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
    RelayWorld world(2, {2, 1u << 20, 1u << 20});
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank, descriptor = ::dup(world.rank_end(rank))] {
        const RelayEnd end = RelayWorld::join_by(descriptor, rank, 2);
        messages[static_cast<std::size_t>(rank)] = testing::message_of<Error>([&] {
          work(end);
          end.transport->close();
        });
      });
    }
    world.serve(&pieces);
    for (std::thread& rank : ranks) rank.join();
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
    pending.push_back(direction == Direction::kSend ? transport.start_send(message) : transport.start_recv(message));
  }
  for (const auto& each : pending) transport.wait(*each);
}

TEST_CASE("relay: gives out work, takes it back, and counts each piece by itself") {
  const WorkingRanks ranks([](const RelayEnd& end) {
    for (int i = 1; const auto piece = end.next_work(); ++i) {
      for (int j = 0; j < i; ++j) swap_with_other(*end.transport);
      end.hand_in(fmt::format("{} {}", *piece, i));
    }
  });
  CHECK_FALSE(ranks.failure);
  CHECK(ranks.results == std::vector<std::string>{"0: piece 1, 4", "0: piece 2, 8", "1: piece 1, 4", "1: piece 2, 8"});
}

TEST_CASE("relay: messages outside of any work, results that nobody asked for, and too much at once end the rank") {
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
                   end.hand_in("once");
                   swap_with_other(*end.transport);
                 }),
                 "belongs to no work"));
  CHECK(contains(failed([](const RelayEnd& end) {
                   end.next_work();
                   end.hand_in("once");
                   end.hand_in("twice");
                   end.next_work();
                 }),
                 "nobody asked for"));
  CHECK(contains(failed([](const RelayEnd& end) {
                   end.next_work();
                   Message message;
                   message.peer = 1 - end.transport->rank();
                   message.tensor = at::zeros({1000});
                   for (int i = 0; i < 300; ++i) end.transport->start_send(message);
                   end.hand_in("all sent");
                   end.next_work();
                 }),
                 "that it has not waited for"));
}

TEST_CASE("relay: what ranks tell each other by disagreeing ends the world, which takes no result from them") {
  for (const bool collective : {false, true}) {
    CAPTURE(collective);
    const WorkingRanks ranks([&](const RelayEnd& end) {
      end.next_work();
      const int rank = end.transport->rank();
      const std::string heard = testing::message_of<ContractError>([&] {
        if (collective) {
          end.collectives->all_reduce(at::zeros({rank + 41}), whole_world(rank, 2));
        } else {
          swap_with_other(*end.transport, rank + 41, true);
        }
      });
      CHECK(testing::contains(heard, "[41]"));
      end.hand_in("I have heard: " + heard);
      end.next_work();
    });
    CHECK(ranks.results.empty());
    REQUIRE(ranks.failure);
    CHECK(ranks.failure->exit_code == ExitCode::kContract);
  }
}

}  // namespace
}  // namespace lab::comm
