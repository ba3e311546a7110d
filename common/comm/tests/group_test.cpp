#include "common/comm/group.h"

#include "common/api/errors.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

TEST_CASE("a group numbers its members in the order given") {
  const Group group = make_group(whole_world(3, 6), {5, 3, 0}, 0);
  CHECK(group.rank == 1);
  CHECK(group.size() == 3);
  CHECK(group.world_rank(0) == 5);
  CHECK(group.world_rank(2) == 0);
}

TEST_CASE("all members compute the same id, and different groups different ones") {
  const std::vector<int> members = {1, 2};
  CHECK(make_group(whole_world(1, 4), members, 0).id == make_group(whole_world(2, 4), members, 0).id);
  CHECK(make_group(whole_world(1, 4), members, 0).id != make_group(whole_world(1, 4), members, 1).id);
  CHECK(make_group(whole_world(1, 4), members, 0).id != make_group(whole_world(1, 4), {2, 1}, 0).id);
  CHECK(make_group(whole_world(1, 4), members, 0).id != 0);
  CHECK(make_group(whole_world(1, 4), members, 0).id < 0x80000000U);
}

TEST_CASE("a group of a group counts in world ranks") {
  const Group outer = make_group(whole_world(4, 6), {2, 4, 5}, 0);
  const Group inner = make_group(outer, {1, 2}, 0);
  CHECK(inner.rank == 0);
  CHECK(inner.world_rank(1) == 5);
}

TEST_CASE("a list that cannot be is refused") {
  CHECK_THROWS_AS(make_group(whole_world(0, 4), {0, 4}, 0), ContractError);
  CHECK_THROWS_AS(make_group(whole_world(0, 4), {0, -1}, 0), ContractError);
  CHECK_THROWS_AS(make_group(whole_world(0, 4), {0, 1, 0}, 0), ContractError);
  CHECK_THROWS_AS(make_group(whole_world(0, 4), {1, 2}, 0), ContractError);
  CHECK_THROWS_AS(make_group(whole_world(0, 4), {}, 0), ContractError);
}

}  // namespace
}  // namespace lab::comm
