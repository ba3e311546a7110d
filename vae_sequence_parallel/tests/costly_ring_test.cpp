#include <string>

#include "common/testing/message_of.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/layers.h"
#include "vae_sequence_parallel/online_attention.h"
#include "vae_sequence_parallel/tests/attention_world.h"

// Rings whose numbers are right: what they send, hold and wait for is not.
namespace lab::vae {
namespace {

/// Passes keys and values on like a ring, and keeps them all.
at::Tensor by_collected_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const std::vector<std::int64_t>& lengths, Communicator& comm) {
  PointToPoint& p2p = comm.point_to_point();
  const int size = comm.size(), next = (comm.rank() + 1) % size, previous = (comm.rank() + size - 1) % size;
  std::vector<at::Tensor> blocks = {at::stack({k, v})};
  for (int step = 1; step < size; ++step) {
    std::vector<std::int64_t> shape = blocks.back().sizes().vec();
    shape[3] = lengths[static_cast<std::size_t>((comm.rank() + size - step) % size)];
    blocks.push_back(at::empty(shape, k.options()));
    Request arriving = p2p.irecv(blocks.back(), previous);
    p2p.send(blocks[blocks.size() - 2], next);
    arriving.wait();
  }
  const at::Tensor all = at::cat(blocks, 3);
  return attention(q, all[0], all[1]);
}

TEST_CASE("right but for what it holds: all keys and values, collected by the messages of a ring") {
  CHECK(attention_verdict("RingAttention", by_collected_blocks) == "passed");
  CHECK(testing::contains(attention_verdict("RingMessages", by_collected_blocks), " of one process's memory"));
}

/// When a rank adds the block that is here: while both messages are on their way, before they are posted, after they
/// have arrived, or between posting the one and the other.
enum class AddsBlock { kUnderWay, kBefore, kAfter, kBetween };

/// Attention by a ring of P - 1 messages.
AttentionCall ring_that_adds(AddsBlock when) {
  return [when](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::vector<std::int64_t>& lengths,
                Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const int size = comm.size(), rank = comm.rank(), next = (rank + 1) % size, previous = (rank + size - 1) % size;
    const auto join = [](const at::Tensor& x) { return x.flatten(0, 1); };
    OnlineAttention found = OnlineAttention::begin(join(q));
    at::Tensor block = at::stack({join(k), join(v)});
    for (int step = 0; step < size; ++step) {
      const auto add = [&](AddsBlock now) {
        if (now == when) found.add(block[0], block[1]);
      };
      if (step + 1 == size) {
        add(when);
        break;
      }
      add(AddsBlock::kBefore);
      const auto owner = static_cast<std::size_t>((rank + size - 1 - step) % size);
      const at::Tensor coming = at::empty({2, block.size(1), lengths[owner], block.size(3)}, block.options());
      Request sent = p2p.isend(block, next);
      add(AddsBlock::kBetween);
      Request arriving = p2p.irecv(coming, previous);
      add(AddsBlock::kUnderWay);
      arriving.wait();
      sent.wait();
      add(AddsBlock::kAfter);
      block = coming;
    }
    found.finish();
    return found.out.to(q.scalar_type()).view(q.sizes());
  };
}

TEST_CASE("right but for its time: keys and values that travel while no rank is at work") {
  for (const int num_ranks : {2, 3, 4, 8}) {
    CAPTURE(num_ranks);
    const auto verdict_of = [&](AddsBlock when) {
      return attention_verdict("RingMessages", ring_that_adds(when), num_ranks);
    };
    CHECK(verdict_of(AddsBlock::kUnderWay) == "passed");
    for (const AddsBlock when : {AddsBlock::kBefore, AddsBlock::kAfter, AddsBlock::kBetween})
      CHECK(testing::contains(verdict_of(when), " ms of model time for messages, expected at most 0.0"));
  }
}

TEST_CASE("right but for what it sends: keys and values in separate messages") {
  const AttentionCall by = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::vector<std::int64_t>& lengths, Communicator& comm) {
    PointToPoint& p2p = comm.point_to_point();
    const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<at::Tensor> keys(lengths.size()), values(lengths.size());
    const auto self = static_cast<std::size_t>(comm.rank());
    keys[self] = k, values[self] = v;
    for (std::size_t step = 1; step < lengths.size(); ++step) {
      const std::size_t held = (self + lengths.size() + 1 - step) % lengths.size();
      const std::size_t coming = (held + lengths.size() - 1) % lengths.size();
      for (std::vector<at::Tensor>* blocks : {&keys, &values}) {
        (*blocks)[coming] = at::empty({q.size(0), q.size(1), lengths[coming], q.size(3)}, q.options());
        Request arriving = p2p.irecv((*blocks)[coming], previous);
        p2p.isend((*blocks)[held].contiguous(), next).wait();
        arriving.wait();
      }
    }
    return attention(q, at::cat(keys, 2), at::cat(values, 2));
  };
  CHECK(attention_verdict("RingAttentionUnevenDouble", by) == "passed");
  CHECK(attention_verdict("RingMessages", by) == "6 messages sent of vae.ring_messages, expected at most 3");
}

}  // namespace
}  // namespace lab::vae
