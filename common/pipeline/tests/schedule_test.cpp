#include "common/pipeline/schedule.h"

#include <set>

#include "common/pipeline/generators.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

namespace {

Schedule empty_schedule(int num_ranks, int num_micro_batches, int num_chunks) {
  return {"interleaved", num_ranks, num_micro_batches, num_chunks, {}};
}

}  // namespace

TEST_CASE("pipeline schedule: stages go round the ranks") {
  const Schedule schedule = empty_schedule(4, 8, 2);
  CHECK(schedule.num_stages() == 8);
  for (int stage = 0; stage < 8; ++stage) {
    CHECK(schedule.find_stage(schedule.rank_of_stage(stage), schedule.chunk_of_stage(stage)) == stage);
  }
  CHECK(schedule.find_stage(1, 1) == 5);
}

TEST_CASE("pipeline schedule: a message's other end, and none beyond the first and last stage") {
  const Schedule schedule = empty_schedule(2, 1, 2);
  CHECK(peer_stage(schedule, Operation::kSendForward, 1) == 2);
  CHECK(peer_stage(schedule, Operation::kRecvForward, 2) == 1);
  CHECK(peer_stage(schedule, Operation::kSendBackward, 2) == 1);
  CHECK(peer_stage(schedule, Operation::kRecvBackward, 1) == 2);
  CHECK(peer_stage(schedule, Operation::kRecvForward, 0) == -1);
  CHECK(peer_stage(schedule, Operation::kSendBackward, 0) == -1);
  CHECK(peer_stage(schedule, Operation::kSendForward, 3) == -1);
  CHECK(peer_stage(schedule, Operation::kRecvBackward, 3) == -1);
  CHECK(peer_stage(schedule, Operation::kForward, 1) == -1);
  CHECK(peer_rank(schedule, 1, {Operation::kSendForward, 0, 0}) == 0);
  CHECK(peer_rank(schedule, 1, {Operation::kSendForward, 0, 1}) == -1);
  CHECK(peer_rank(empty_schedule(1, 1, 2), 0, {Operation::kSendForward, 0, 0}) == 0);
}

TEST_CASE("pipeline schedule: a tag is one message's own, and the same on both ends") {
  const Schedule schedule = empty_schedule(2, 3, 3);
  std::set<int> tags;
  for (const Operation send : {Operation::kSendForward, Operation::kSendBackward}) {
    const Operation recv = send == Operation::kSendForward ? Operation::kRecvForward : Operation::kRecvBackward;
    for (int stage = 0; stage < schedule.num_stages(); ++stage) {
      const int peer = peer_stage(schedule, send, stage);
      if (peer < 0) continue;
      for (int i = 0; i < 3; ++i) {
        const int tag = message_tag(schedule, schedule.rank_of_stage(stage), {send, i, schedule.chunk_of_stage(stage)});
        CHECK(tag >= 0);
        CHECK(tag < 2 * schedule.num_stages() * schedule.num_micro_batches);
        CHECK(tags.insert(tag).second);
        CHECK(message_tag(schedule, schedule.rank_of_stage(peer), {recv, i, schedule.chunk_of_stage(peer)}) == tag);
      }
    }
  }
}

TEST_CASE("pipeline schedule: names for messages and for timelines") {
  const Schedule one = empty_schedule(4, 8, 1);
  const Schedule several = empty_schedule(4, 8, 30);
  CHECK(describe(one, {Operation::kForward, 3}) == "forward of micro-batch 3");
  CHECK(describe(several, {Operation::kBackwardInput, 3, 1}) == "backward_input of micro-batch 3 in chunk 1");
  CHECK(describe(one, {Operation::kSendForward, 0, 0, Extent::kStart}) == "start of send_forward of micro-batch 0");
  CHECK(describe(one, {Operation::kRecvBackward, 2, 0, Extent::kFinish}) == "end of recv_backward of micro-batch 2");
  CHECK(short_name(one, {Operation::kForward, 3}) == "F3");
  CHECK(short_name(one, {Operation::kBackward, 12}) == "B12");
  CHECK(short_name(one, {Operation::kBackwardInput, 0}) == "I0");
  CHECK(short_name(one, {Operation::kBackwardWeight, 7}) == "W7");
  CHECK(short_name(several, {Operation::kForward, 3, 1}) == "F3b");
  CHECK(short_name(several, {Operation::kForward, 3, 26}) == "F3aa");
  CHECK(short_name(one, {Operation::kSendForward, 3}) == "send_forward 3");
}
