#include "common/comm/relay/gathering.h"

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// The relay's own collectives, frame by frame; the contract suite runs them on ranks.
namespace lab::comm {
namespace {

using testing::contains;
using Results = std::vector<CollectiveResult>;

std::string view_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

RelayFrame make_frame(const std::string& operation, const std::vector<std::int64_t>& sizes) {
  RelayFrame frame;
  frame.kind = RelayFrame::Kind::kCollect;
  frame.operation = operation;
  frame.dtype = static_cast<int>(at::kFloat);
  frame.sizes = sizes;
  frame.members = {2, 0, 3};  // of a world of 4: member 0 is rank 2
  return frame;
}

/// The results when the members begin in the order of their world ranks; empty if no call gave any.
Results gathered(const RelayFrame& frame, const std::vector<std::string>& payloads) {
  Gatherings gatherings;
  for (const int member : {1, 0, 2}) {
    const int rank = frame.members[static_cast<std::size_t>(member)];
    auto results = gatherings.begin(rank, 4, frame, payloads[static_cast<std::size_t>(member)]);
    if (results) return *results;
    CHECK(gatherings.missing_for(rank) == (member == 1 ? 2 : 3));
    CHECK_FALSE(gatherings.missing_for(1).has_value());
  }
  return {};
}

TEST_CASE("gathering: each collective, on the ranks 2, 0 and 3") {
  const std::vector<std::string> threes = {view_bytes({1, 2, 3}), view_bytes({10, 20, 30}),
                                           view_bytes({100, 200, 300})};
  const Results sums = gathered(make_frame("all_reduce", {3}), threes);
  REQUIRE(sums.size() == 3);
  CHECK(sums[0].rank == 2);
  CHECK(sums[2].payload == view_bytes({111, 222, 333}));
  CHECK(sums[1].cost.operation == "all_reduce");
  CHECK(sums[1].cost.bytes_sent == 16);

  const Results chunks = gathered(make_frame("reduce_scatter", {3, 1}), threes);
  CHECK(chunks.at(1).payload == view_bytes({222}));
  const Results whole = gathered(make_frame("all_gather", {3}), threes);
  CHECK(whole.at(0).payload == threes[0] + threes[1] + threes[2]);
  CHECK(whole.at(0).cost.bytes_received == 24);

  RelayFrame broadcast = make_frame("broadcast", {3});
  broadcast.channel.peer = 1;
  const Results copies = gathered(broadcast, {"", threes[1], ""});
  CHECK(copies.at(0).payload == threes[1]);
  CHECK(copies.at(1).payload.empty());
  CHECK(copies.at(1).cost.bytes_sent == 12);
  CHECK(gathered(make_frame("barrier", {0}), {"", "", ""}).at(2).cost.calls == 1);
}

TEST_CASE("gathering: an all_to_all passes every part to its member, and compares its two sides") {
  const auto frame_of_member = [](std::int64_t own, const std::vector<std::int64_t>& theirs) {
    RelayFrame frame = make_frame("all_to_all", {});
    for (int member = 0; member < 3; ++member) frame.sizes.insert(frame.sizes.end(), {1, own});
    for (const std::int64_t size : theirs) frame.sizes.insert(frame.sizes.end(), {1, size});
    return frame;
  };
  Gatherings gatherings;
  gatherings.begin(2, 4, frame_of_member(1, {1, 2, 0}), view_bytes({12, 13}));
  gatherings.begin(0, 4, frame_of_member(2, {1, 2, 0}), view_bytes({21, 21, 23, 23}));
  const auto results = gatherings.begin(3, 4, frame_of_member(0, {1, 2, 0}), "");
  REQUIRE(results);
  CHECK((*results)[0].payload == view_bytes({21, 21}));
  CHECK((*results)[1].payload == view_bytes({12}));
  CHECK((*results)[2].payload == view_bytes({13, 23, 23}));
  CHECK((*results)[2].cost.bytes_received == 12);

  gatherings.begin(2, 4, frame_of_member(1, {1, 1, 0}), view_bytes({12, 13}));
  gatherings.begin(0, 4, frame_of_member(2, {1, 2, 0}), view_bytes({21, 21, 23, 23}));
  const auto refused = gatherings.begin(3, 4, frame_of_member(0, {1, 2, 0}), "");
  REQUIRE(refused);
  for (const CollectiveResult& result : *refused)
    CHECK(contains(result.violation, "shape mismatch in all_to_all: rank 0 has float32 [2]"));
}

TEST_CASE("gathering: members that do different things all hear of it") {
  Gatherings gatherings;
  gatherings.begin(2, 4, make_frame("all_reduce", {1}), view_bytes({1}));
  gatherings.begin(0, 4, make_frame("all_gather", {1}), view_bytes({1}));
  const auto results = gatherings.begin(3, 4, make_frame("all_reduce", {1}), view_bytes({1}));
  REQUIRE(results);
  for (const CollectiveResult& result : *results)
    CHECK(contains(result.violation, "rank 2 is in all_reduce (:0), rank 0 is in all_gather"));
}

TEST_CASE("gathering: refuses frames that no rank of the suite writes") {
  const auto refusal = [](RelayFrame frame, const std::string& payload = "1234") {
    return testing::get_message<ContractError>([&] { Gatherings().begin(2, 4, std::move(frame), payload); });
  };
  CHECK(contains(refusal(make_frame("all_reduce", {2})), "a payload of 4 B for all_reduce"));
  CHECK(contains(refusal(make_frame("sum", {1})), "a collective that is none"));
  CHECK(contains(refusal(make_frame("reduce_scatter", {1})), "without a chunk for each"));
  CHECK(contains(refusal(make_frame("all_to_all", {1, 1})), "without a shape for each"));
  CHECK(contains(refusal(make_frame("all_to_all", {9, 1})), "without a shape for each"));
  CHECK(contains(refusal(make_frame("all_to_all", {-1, 1})), "without a shape for each"));
  CHECK(contains(refusal(make_frame("all_gather", {-1})), "a size that no tensor has"));
  RelayFrame frame = make_frame("all_reduce", {1});
  for (const std::vector<int>& members : {std::vector<int>{2}, {2, 2}, {0, 1}, {2, 4}, {2, -1}}) {
    frame.members = members;
    CHECK(contains(refusal(frame), "a group that cannot be"));
  }
  frame = make_frame("broadcast", {1});
  frame.channel.peer = 3;
  CHECK(contains(refusal(frame), "a broadcast whose source is not a member"));
}

}  // namespace
}  // namespace lab::comm
