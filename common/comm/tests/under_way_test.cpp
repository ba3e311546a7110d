#include <deque>

#include "common/api/errors.h"
#include "common/comm/messages/endpoint.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using Watch = Pending::Watch;

Message message(Direction direction, const at::Tensor& tensor) {
  Message one;
  one.direction = direction;
  one.peer = 2;
  one.tensor = tensor;
  return one;
}

class Posted {
 public:
  int add(Direction direction, const at::Tensor& tensor, Watch watch) {
    under_way_.add(messages_.emplace_back(message(direction, tensor)), watch);
    return static_cast<int>(messages_.size()) - 1;
  }
  bool ended(int index) { return under_way_.ended(messages_[static_cast<std::size_t>(index)]); }
  const UnderWay& under_way() const { return under_way_; }

 private:
  std::deque<Pending> messages_;
  UnderWay under_way_;
};

TEST_CASE("under way: what a send shares with a receive is refused, in either order; two sends may share") {
  const at::Tensor buffer = at::zeros({16});
  for (const Direction first : {Direction::kSend, Direction::kRecv}) {
    for (const Direction second : {Direction::kSend, Direction::kRecv}) {
      Posted posted;
      const int part = posted.add(first, buffer.narrow(0, 4, 8), Watch::kPlace);
      const auto refuses = [&](std::int64_t begin, std::int64_t size) {
        try {
          posted.under_way().require_apart(message(second, buffer.narrow(0, begin, size)), 1);
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
      posted.ended(part);
      CHECK_FALSE(refuses(0, 16));
    }
  }
}

TEST_CASE("under way: a send that was changed, in any one byte, and only if it was watched") {
  const at::Tensor buffer = at::zeros({77}, at::kByte);
  for (std::int64_t byte = 0; byte < 77; ++byte) {
    Posted posted;
    const int watched = posted.add(Direction::kSend, buffer, Watch::kBytes);
    buffer[byte] = byte + 1;
    CHECK(posted.ended(watched));
    CHECK_FALSE(posted.ended(watched));  // forgotten
    CHECK_FALSE(posted.ended(posted.add(Direction::kSend, buffer, Watch::kBytes)));
    const int placed = posted.add(Direction::kSend, buffer, Watch::kPlace);
    buffer[byte] = 0;
    CHECK_FALSE(posted.ended(placed));
    const int received = posted.add(Direction::kRecv, buffer, Watch::kBytes);
    buffer[byte] = byte + 1;
    CHECK_FALSE(posted.ended(received));
  }
}

TEST_CASE("under way: the memory of a message that is only listed is not checked") {
  const at::Tensor buffer = at::zeros({8});
  Posted posted;
  const int sent = posted.add(Direction::kSend, buffer, Watch::kListed);
  const int received = posted.add(Direction::kRecv, buffer, Watch::kListed);
  posted.under_way().require_apart(message(Direction::kRecv, buffer), 0);
  buffer.fill_(1);
  CHECK_FALSE(posted.ended(sent));
  CHECK(posted.under_way().first().rfind("irecv from rank 2 (", 0) == 0);
  CHECK_FALSE(posted.ended(received));
  CHECK(posted.under_way().first().empty());
}

TEST_CASE("under way: a long message before many short ones is found") {
  const at::Tensor buffer = at::zeros({1000});
  Posted posted;
  const UnderWay& under_way = posted.under_way();
  posted.add(Direction::kRecv, buffer.narrow(0, 0, 500), Watch::kPlace);
  for (std::int64_t i = 0; i < 100; ++i) posted.add(Direction::kSend, buffer.narrow(0, 600 + i, 1), Watch::kPlace);
  CHECK_THROWS_AS(under_way.require_apart(message(Direction::kSend, buffer.narrow(0, 499, 1)), 0), ContractError);
  CHECK_THROWS_AS(under_way.require_apart(message(Direction::kRecv, buffer.narrow(0, 650, 200)), 0), ContractError);
  under_way.require_apart(message(Direction::kRecv, buffer.narrow(0, 500, 100)), 0);
}

TEST_CASE("under way: the first that is left, and tensors without memory") {
  Posted posted;
  const UnderWay& under_way = posted.under_way();
  CHECK(under_way.first().empty());
  const int received = posted.add(Direction::kRecv, at::zeros({2}), Watch::kBytes);
  const int sent = posted.add(Direction::kSend, at::zeros({2}), Watch::kBytes);
  CHECK(under_way.first().rfind("irecv from rank 2 (", 0) == 0);
  posted.ended(received);
  CHECK(under_way.first().rfind("isend to rank 2 (", 0) == 0);
  posted.ended(sent);
  const at::Tensor meta = at::empty({4}, at::kMeta);
  const int without = posted.add(Direction::kSend, meta, Watch::kBytes);
  under_way.require_apart(message(Direction::kRecv, meta), 0);
  CHECK_FALSE(posted.ended(without));
}

}  // namespace
}  // namespace lab::comm
