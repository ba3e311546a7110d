#include <cstring>
#include <set>

#include "common/comm/gloo/slots.h"
#include "common/comm/group.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

Message get_message(at::IntArrayRef shape, at::ScalarType dtype) {
  Message message;
  message.peer = 1;
  message.tag = 3;
  message.where = {"/a/very/long/path/to/collectives.cpp", 41};
  message.tensor = at::zeros(shape, dtype);
  return message;
}

TEST_CASE("a header carries the sender's contract") {
  const Message message = get_message({2, 0, 5}, at::kBFloat16);
  const Contract contract = read_contract(make_header(message));
  CHECK(contract.operation == "message");
  CHECK((contract.dtype == at::kBFloat16));
  CHECK(contract.shape == std::vector<std::int64_t>{2, 0, 5});
  CHECK(contract.tag == 3);
  CHECK(contract.where == "collectives.cpp:41");
  CHECK(contract_violation(0, contract, 1, message.contract()).empty());
}

TEST_CASE("the quick comparison detects every difference that the error message would name") {
  const Message message = get_message({2, 3}, at::kFloat);
  const FrameHeader header = make_header(message);
  CHECK(same_contract(header, get_message({2, 3}, at::kFloat)));
  CHECK_FALSE(same_contract(header, get_message({3, 2}, at::kFloat)));
  CHECK_FALSE(same_contract(header, get_message({2, 3, 1}, at::kFloat)));
  CHECK_FALSE(same_contract(header, get_message({2, 3}, at::kInt)));
  Message collective = get_message({2, 3}, at::kFloat);
  collective.operation = "all_reduce";
  CHECK_FALSE(same_contract(header, collective));
  CHECK_FALSE(same_contract(FrameHeader{}, message));
}

TEST_CASE("a file name too long for the header is cut, not overrun") {
  Message message = get_message({1}, at::kFloat);
  const std::string name(500, 'x');
  message.where = {name.c_str(), 7};
  const Contract contract = read_contract(make_header(message));
  CHECK(contract.where.size() < 150);
  CHECK(contract.where.substr(contract.where.size() - 2) == ":7");
}

TEST_CASE("more than eight dimensions are refused before anything is posted") {
  CHECK_NOTHROW(make_header(get_message({1, 1, 1, 1, 1, 1, 1, 1}, at::kFloat)));
  CHECK_THROWS_AS(make_header(get_message({1, 1, 1, 1, 1, 1, 1, 1, 1}, at::kFloat)), ContractError);
}

TEST_CASE("bytes that are not a header are refused") {
  FrameHeader header{};
  CHECK_THROWS_AS(read_contract(header), CommError);
  header = make_header(get_message({1}, at::kFloat));
  header.num_dims = 9;
  CHECK_THROWS_AS(read_contract(header), CommError);
}

TEST_CASE("payloads of unequal contracts never share a slot, nor do channels") {
  std::set<std::uint64_t> slots;
  int count = 0;
  for (const at::ScalarType dtype : {at::kFloat, at::kInt, at::kDouble}) {
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{{6}, {2, 3}, {3, 2}, {6, 1}, {7}}) {
      for (const std::uint64_t sequence : {0, 1}) {
        for (const int tag : {0, 1, -1}) {
          Message message = get_message(shape, dtype);
          message.tag = tag;
          slots.insert(payload_slot(message, sequence));
          ++count;
        }
      }
    }
  }
  CHECK(slots.size() == static_cast<std::size_t>(count));
  for (const std::uint64_t slot : slots) CHECK((slot >> 56) == 0x41);
  CHECK(frame_slot(0, 1) != frame_slot(1, 0));
  CHECK((frame_slot(0, 1) >> 56) == 0x40);
}

TEST_CASE("acknowledgements have slots of their own, by channel and number; parts of collectives have none") {
  std::set<std::uint64_t> slots;
  for (const std::uint32_t group : {0u, 1u}) {
    for (const int tag : {0, 1, -1}) {
      for (const std::uint64_t sequence : {0, 1, 2}) {
        Message message = get_message({1}, at::kFloat);
        message.group = group;
        message.tag = tag;
        CHECK(is_acknowledged(message));
        slots.insert(acknowledgement_slot(message, sequence));
      }
    }
  }
  CHECK(slots.size() == 2 * 3 * 3);
  for (const std::uint64_t slot : slots) CHECK((slot >> 56) == 0x42);
  Message part = get_message({1}, at::kFloat);
  part.group = 1 | kCollectiveChannel;
  CHECK_FALSE(is_acknowledged(part));
  // Both ends name the same slot, whatever they think the message is.
  Message other = get_message({2, 3}, at::kInt);
  other.direction = Direction::kRecv;
  CHECK(acknowledgement_slot(other, 4) == acknowledgement_slot(get_message({1}, at::kFloat), 4));
}

}  // namespace
}  // namespace lab::comm
