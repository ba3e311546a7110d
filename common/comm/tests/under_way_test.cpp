#include "common/comm/messages/under_way.h"

#include <memory>
#include <vector>

#include "common/base/errors.h"
#include "common/comm/transport.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using Watch = UnderWay::Watch;

Message message(Direction direction, const at::Tensor& tensor) {
  Message one;
  one.direction = direction;
  one.peer = 2;
  one.tensor = tensor;
  return one;
}

TEST_CASE("under way: what a send shares with a receive is refused, in either order; two sends may share") {
  const at::Tensor buffer = at::zeros({16});
  const Pending pending[3];
  for (const Direction first : {Direction::kSend, Direction::kRecv}) {
    for (const Direction second : {Direction::kSend, Direction::kRecv}) {
      UnderWay under_way;
      under_way.add(&pending[0], message(first, buffer.narrow(0, 4, 8)), Watch::kPlace);
      const auto refuses = [&](std::int64_t begin, std::int64_t size) {
        try {
          under_way.require_apart(message(second, buffer.narrow(0, begin, size)), 1);
          return false;
        } catch (const ContractError&) {
          return true;
        }
      };
      const bool share = first == Direction::kSend && second == Direction::kSend;
      CHECK(refuses(0, 5) == !share);
      CHECK(refuses(11, 5) == !share);
      CHECK(refuses(0, 16) == !share);
      CHECK(refuses(6, 1) == !share);
      CHECK_FALSE(refuses(0, 4));
      CHECK_FALSE(refuses(12, 4));
      CHECK_FALSE(refuses(6, 0));
      under_way.ended(&pending[0]);
      CHECK_FALSE(refuses(0, 16));
    }
  }
}

TEST_CASE("under way: a long message before many short ones is found") {
  const at::Tensor buffer = at::zeros({1000});
  const std::vector<Pending> pending(101);
  UnderWay under_way;
  under_way.add(&pending[100], message(Direction::kRecv, buffer.narrow(0, 0, 500)), Watch::kPlace);
  for (std::size_t i = 0; i < 100; ++i)
    under_way.add(&pending[i], message(Direction::kSend, buffer.narrow(0, 600 + static_cast<std::int64_t>(i), 1)),
                  Watch::kPlace);
  CHECK_THROWS_AS(under_way.require_apart(message(Direction::kSend, buffer.narrow(0, 499, 1)), 0), ContractError);
  CHECK_THROWS_AS(under_way.require_apart(message(Direction::kRecv, buffer.narrow(0, 650, 200)), 0), ContractError);
  under_way.require_apart(message(Direction::kRecv, buffer.narrow(0, 500, 100)), 0);
}

TEST_CASE("under way: a send that was changed, in any one byte, and only if it was watched") {
  const at::Tensor buffer = at::zeros({77}, at::kByte);
  const Pending pending;
  for (std::int64_t byte = 0; byte < 77; ++byte) {
    UnderWay under_way;
    under_way.add(&pending, message(Direction::kSend, buffer), Watch::kBytes);
    buffer[byte] = byte + 1;
    CHECK(under_way.ended(&pending));
    CHECK_FALSE(under_way.ended(&pending));  // forgotten
    under_way.add(&pending, message(Direction::kSend, buffer), Watch::kBytes);
    CHECK_FALSE(under_way.ended(&pending));
    under_way.add(&pending, message(Direction::kSend, buffer), Watch::kPlace);
    buffer[byte] = 0;
    CHECK_FALSE(under_way.ended(&pending));
    under_way.add(&pending, message(Direction::kRecv, buffer), Watch::kBytes);
    buffer[byte] = byte + 1;
    CHECK_FALSE(under_way.ended(&pending));
  }
}

TEST_CASE("under way: the memory of a message that is only listed is not checked") {
  const at::Tensor buffer = at::zeros({8});
  const Pending pending[2];
  UnderWay under_way;
  under_way.add(&pending[0], message(Direction::kSend, buffer), Watch::kListed);
  under_way.add(&pending[1], message(Direction::kRecv, buffer), Watch::kListed);
  under_way.require_apart(message(Direction::kRecv, buffer), 0);
  buffer.fill_(1);
  CHECK_FALSE(under_way.ended(&pending[0]));
  CHECK(under_way.first().rfind("irecv from rank 2 (", 0) == 0);
  CHECK_FALSE(under_way.ended(&pending[1]));
  CHECK(under_way.first().empty());
}

TEST_CASE("under way: the first that is left, and tensors without memory") {
  const Pending pending[3];
  UnderWay under_way;
  CHECK(under_way.first().empty());
  under_way.add(&pending[2], message(Direction::kRecv, at::zeros({2})), Watch::kBytes);
  under_way.add(&pending[0], message(Direction::kSend, at::zeros({2})), Watch::kBytes);
  CHECK(under_way.first().rfind("irecv from rank 2 (", 0) == 0);
  under_way.ended(&pending[2]);
  CHECK(under_way.first().rfind("isend to rank 2 (", 0) == 0);
  under_way.ended(&pending[0]);
  const at::Tensor meta = at::empty({4}, at::kMeta);
  under_way.add(&pending[1], message(Direction::kSend, meta), Watch::kBytes);
  under_way.require_apart(message(Direction::kRecv, meta), 0);
  CHECK_FALSE(under_way.ended(&pending[1]));
}

}  // namespace
}  // namespace lab::comm
