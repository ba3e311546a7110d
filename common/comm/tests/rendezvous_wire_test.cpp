#include <vector>

#include "common/comm/rendezvous/wire.h"
#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::comm;

namespace {

Arrival some_arrival() {
  Arrival arrival;
  arrival.rank = 3;
  arrival.size = 8;
  arrival.timeout_ms = 10'000;
  arrival.patience_ms = 9'000;
  arrival.token = std::string("to\0ken", 6);
  arrival.fingerprint = "program: a4\n";
  arrival.process = "process 1 on node1";
  return arrival;
}

}  // namespace

TEST_CASE("what is written is read, however the stream is cut") {
  const std::string bytes = to_bytes(to_message(some_arrival())) +
                            to_bytes(to_message(Exchange{"group7", 1, 2, 500, "abcd"})) +
                            to_bytes(to_message(RendezvousKind::kFailed, Refusal{5, "rank 1 is late"})) +
                            to_bytes({RendezvousKind::kHeard, ""});
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, bytes.size()}) {
    RendezvousStream stream(1000);
    std::vector<RendezvousMessage> messages;
    for (std::size_t begin = 0; begin < bytes.size(); begin += step) {
      stream.append(bytes.substr(begin, step));
      while (auto message = stream.next()) messages.push_back(*message);
    }
    REQUIRE(messages.size() == 4);
    const Arrival arrival = read_arrival(messages[0]);
    CHECK(arrival.rank == 3);
    CHECK(arrival.size == 8);
    CHECK(arrival.timeout_ms == 10'000);
    CHECK(arrival.patience_ms == 9'000);
    CHECK(arrival.token == some_arrival().token);
    CHECK(arrival.fingerprint == "program: a4\n");
    CHECK(arrival.process == "process 1 on node1");
    const Exchange exchange = read_exchange(messages[1]);
    CHECK(exchange.name == "group7");
    CHECK(exchange.index == 1);
    CHECK(exchange.count == 2);
    CHECK(exchange.timeout_ms == 500);
    CHECK(exchange.items == "abcd");
    CHECK(read_refusal(messages[2]).exit_code == 5);
    CHECK(read_refusal(messages[2]).message == "rank 1 is late");
    CHECK(messages[3].kind == RendezvousKind::kHeard);
  }
}

TEST_CASE("garbage is refused: another protocol, another version, a length that is too long, a cut body") {
  const std::string good = to_bytes(to_message(some_arrival()));
  const auto refused = [](const std::string& bytes) {
    try {
      RendezvousStream stream(1000);
      stream.append(bytes);
      while (auto message = stream.next()) read_arrival(*message);
    } catch (const WireError&) {
      return true;
    }
    return false;
  };
  CHECK_FALSE(refused(good));
  CHECK(refused("G"));
  CHECK(refused("GET / HTTP/1.1\r\n\r\n"));
  CHECK(refused(std::string("LRV\x02") + good.substr(4)));
  CHECK(refused(good.substr(0, 5) + "\xff\xff\xff\xff"));
  CHECK(refused(to_bytes({RendezvousKind::kArrive, "short"})));
  CHECK(refused(to_bytes({RendezvousKind::kExchange, to_message(some_arrival()).body})));
  CHECK(refused(to_bytes({RendezvousKind::kArrive, to_message(some_arrival()).body + "more"})));
  Arrival negative = some_arrival();
  negative.rank = -1;
  CHECK(refused(to_bytes(to_message(negative))));
  for (const Exchange& wrong :
       {Exchange{"g", 2, 2, 1, "ab"}, Exchange{"g", 0, 2, 1, "abc"}, Exchange{"g", 0, 0, 1, ""}})
    CHECK_THROWS_AS(read_exchange(to_message(wrong)), WireError);
}
