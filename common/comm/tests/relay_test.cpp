#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/comm/group.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/relay_world.h"
#include "common/testing/get_message.h"
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
  frame.flops = std::int64_t{1} << 41;
  frame.model_time = -(std::int64_t{1} << 42);
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
    CHECK(got.flops == sent.flops);
    CHECK(got.model_time == sent.model_time);
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
  CHECK(testing::get_message<ContractError>([&] { reader.next(); }) == "a payload of 5 B; expected at most 4");
}

/// Two ranks: 0 is the given function, which may write anything; 1 receives 4 bytes from it.
struct Encounter {
  std::string message;     ///< of rank 1's failure; empty: it received them
  std::uint64_t step = 0;  ///< of rank 0, as rank 1 hears of it
  std::vector<LedgerEntry> ledger;

  explicit Encounter(const std::function<void(int descriptor)>& stranger, bool contract_only = false) {
    RelayOptions options;
    options.timeout_seconds = 2;
    options.max_message_bytes = 1u << 20;
    options.max_posted_bytes = 3u << 20;
    RelayWorld world(2, options);
    UniqueFd own(::dup(world.rank_end(0))), other(::dup(world.rank_end(1)));
    std::thread rank_1([&] {
      const auto transport = RelayWorld::join_by(::dup(other.get()), 1, 2).transport;
      other.reset();
      message = testing::get_message<Error>([&] {
        Message receive;
        receive.direction = Direction::kRecv;
        receive.tensor = at::zeros({1});
        receive.contract_only = contract_only;
        receive.group = contract_only ? kCollectiveChannel : 0;
        const auto pending = transport->post(std::move(receive));
        transport->wait(*pending);
        step = pending->peer_step;
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
    ledger = world.reach_ledger(0);
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
  CHECK(contains(said([](RelayFrame& frame) { frame.kind = RelayFrame::Kind::kReturnResult; }), "was not asked for"));
  CHECK(contains(said([](RelayFrame& frame) { frame.kind = RelayFrame::Kind::kCollect; }), "a group that cannot be"));
  CHECK(contains(said([](RelayFrame& frame) {
                   frame.kind = RelayFrame::Kind::kCollect;
                   frame.operation = "all_reduce";
                   frame.members = {0, 1};
                 }),
                 "deadlock: rank 0 waits to receive"));
}

/// Two pieces for each rank.
struct TwoForEach final : RelayWork {
  std::map<int, int> num_given;

  std::optional<std::string> next(int rank, pid_t) override {
    if (num_given[rank]++ == 2) return std::nullopt;
    return "piece";
  }
  void done(int, pid_t, std::string, const RelayCost&) override {}
};

using RankOfThree = std::function<void(RelayEnd&)>;

/// Why a world of three ranks failed. `late`: the rank that begins last, when the relay has heard of the others.
std::string failure_of_three(const std::vector<RankOfThree>& bodies, std::size_t late) {
  RelayWorld world(3, RelayOptions());
  TwoForEach work;
  std::vector<UniqueFd> ends;
  for (int rank = 0; rank < 3; ++rank) ends.emplace_back(::dup(world.rank_end(rank)));
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      RelayEnd end = RelayWorld::join_by(::dup(ends[rank].get()), static_cast<int>(rank), 3);
      ends[rank].reset();
      if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      (void)testing::get_message<Error>([&] { bodies[rank](end); });
    });
  }
  world.serve(&work);
  for (std::thread& rank : ranks) rank.join();
  const std::optional<RelayFailure> failure = world.failure();
  return failure ? fmt::format("{}: {}", failure->rank, failure->message) : "none";
}

TEST_CASE("relay: which of several failures is the world's does not depend on which came first") {
  const RankOfThree throws = [](RelayEnd& end) {
    (void)end.next_work();
    end.transport->fail(ExitCode::kStudentCode, "in the first piece");
  };
  const RankOfThree throws_later = [](RelayEnd& end) {
    (void)end.next_work();
    end.return_result("done");
    (void)end.next_work();
    end.transport->fail(ExitCode::kStudentCode, "in the second piece");
  };
  const auto receives_from = [](int peer) {
    return [peer](RelayEnd& end) {
      (void)end.next_work();
      Message receive;
      receive.direction = Direction::kRecv;
      receive.peer = peer;
      receive.tensor = at::zeros({1});
      end.transport->wait(*end.transport->post(std::move(receive)));
    };
  };
  const RankOfThree returns = [](RelayEnd& end) { end.transport->close(); };
  const RankOfThree ends = [](RelayEnd&) {};
  for (const std::size_t late : {0, 1, 2}) {
    CAPTURE(late);
    CHECK(failure_of_three({receives_from(1), throws, throws}, late) == "1: in the first piece");
    CHECK(failure_of_three({throws, throws, throws}, late) == "0: in the first piece");
    CHECK(failure_of_three({throws_later, throws_later, throws}, late) == "2: in the first piece");
    CHECK(failure_of_three({receives_from(1), receives_from(0), throws}, late) == "2: in the first piece");
    CHECK(failure_of_three({ends, ends, receives_from(0)}, late) == "0: its process has ended");
    const std::string stuck = failure_of_three({returns, receives_from(0), receives_from(0)}, late);
    CHECK(stuck == failure_of_three({returns, receives_from(0), receives_from(0)}, 0));
    CHECK(testing::contains(stuck, "-1: "));
  }
}

/// A rank that sends rank 1 four bytes or their contract, and says that it has come to step 1000.
std::function<void(int descriptor)> claiming_a_step(bool contract_only) {
  return [contract_only](int descriptor) {
    RelayFrame frame = right_send();
    frame.step = 1000;
    frame.text = "all_reduce";
    frame.contract_only = contract_only;
    if (contract_only) frame.payload_bytes = 0;
    if (contract_only) frame.channel.group = kCollectiveChannel;
    write_all(descriptor, to_bytes(frame) + (contract_only ? "" : "1234"));
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
  };
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
  for (const bool contract_only : {false, true}) {
    CAPTURE(contract_only);
    const Encounter met(claiming_a_step(contract_only), contract_only);
    CHECK(met.message == "nothing was thrown");
    CHECK(met.step == (contract_only ? 0 : 1));
    REQUIRE(met.ledger.size() == (contract_only ? 0 : 1));
    if (contract_only) continue;
    CHECK(met.ledger[0].operation == "message");
    CHECK(met.ledger[0].messages == 1);
    CHECK(met.ledger[0].bytes_sent == 4);
    CHECK(met.ledger[0].rounds == 1);
  }
}

}  // namespace
}  // namespace lab::comm
