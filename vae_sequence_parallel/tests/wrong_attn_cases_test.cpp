#include <cmath>
#include <limits>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/sequence_attention.h"
#include "vae_sequence_parallel/tests/wrong_modules.h"

// Each mistake with attention that the README warns about, as a wrong solution, and the case that finds it.
namespace lab::vae {
namespace {

/// A local module: the serial one on this rank's columns.
template <class Serial>
ShardFunction on_own_columns(const Serial& module) {
  return [module](WidthShard x) {
    x.columns = module.forward(x.columns);
    return x;
  };
}

/// An AttnBlock of the gathered picture, of which each rank keeps its share.
using AttnForward = std::function<at::Tensor(const AttnBlock&, const at::Tensor& whole)>;

ModuleMaker attn_by(const AttnForward& forward) {
  return [forward](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const AttnBlock block(weights, inputs.integer("channels"), inputs.integer("heads"));
    return [=, &comm](const WidthShard& x) { return own_share(forward(block, gathered(x, comm)), x.widths, comm); };
  };
}

at::Tensor block_with(const AttnBlock& block, const at::Tensor& x, const at::Tensor& normed, std::int64_t heads,
                      double scale) {
  const at::Tensor found =
      attention(to_heads(block.q.forward(normed), heads) * scale, to_heads(block.k.forward(normed), heads),
                to_heads(block.v.forward(normed), heads));
  return x + block.proj_out.forward(from_heads(found, x.size(2), x.size(3)));
}

TEST_CASE("right but for what it sends: attention of the gathered picture") {
  const ModuleMaker make = attn_by([](const AttnBlock& block, const at::Tensor& x) {
    return block_with(block, x, block.norm.forward(x), block.num_heads, 1);
  });
  CHECK(verdict("AttnBlockUneven", make) == "passed");
  CHECK(verdict("AttnBlock8HeadsDouble", make) == "passed");
  CHECK(verdict("AttnBlockTraffic", make) == "0 bytes received of all_gather, expected at least 4608");
  CHECK(verdict("AttnBlock8HeadsTraffic", make) == "0 bytes received of all_gather, expected at least 4608");
}

TEST_CASE("wrong: attention among the own columns only") {
  CHECK(verdict("AttnBlockUneven", [](const Weights& weights, const CaseInputs& inputs, Communicator&) {
          return on_own_columns(AttnBlock(weights, inputs.integer("channels"), inputs.integer("heads")));
        }) == "mismatch");
}

TEST_CASE("wrong: scores over sqrt(C) whatever the number of heads; one head hides it") {
  const ModuleMaker make = attn_by([](const AttnBlock& block, const at::Tensor& x) {
    return block_with(block, x, block.norm.forward(x), block.num_heads,
                      1 / std::sqrt(static_cast<double>(block.num_heads)));
  });
  CHECK(verdict("AttnBlockUneven", make) == "passed");
  CHECK(verdict("AttnBlock8Heads", make) == "mismatch");
}

TEST_CASE("wrong: one head where there are 8, or no norm, or nothing added") {
  CHECK(verdict("AttnBlock8Heads", attn_by([](const AttnBlock& block, const at::Tensor& x) {
                  return block_with(block, x, block.norm.forward(x), 1, 1);
                })) == "mismatch");
  CHECK(verdict("AttnBlockUneven", attn_by([](const AttnBlock& block, const at::Tensor& x) {
                  return block_with(block, x, x, 1, 1);
                })) == "mismatch");
  CHECK(verdict("AttnBlockUneven", attn_by([](const AttnBlock& block, const at::Tensor& x) {
                  return block_with(block, x, block.norm.forward(x), 1, 1) - x;
                })) == "mismatch");
}

/// From this rank's q, k, v and each rank's number of positions to the output for q.
using AttentionBy = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                             const std::vector<std::int64_t>& lengths, Communicator& comm)>;

std::string attention_verdict(const std::string& case_name, const AttentionBy& by) {
  return testing::verdict(
      all_cases(), case_name,
      [by](Communicator& comm, const CaseInputs& inputs) {
        return TensorMap{{"out", by(inputs.tensor("input.q"), inputs.tensor("input.k"), inputs.tensor("input.v"),
                                    integers(inputs, "input.lengths"), comm)
                                     .detach()}};
      },
      4);
}

/// The positions of all ranks.
at::Tensor all_positions(const at::Tensor& own, const std::vector<std::int64_t>& lengths, Communicator& comm) {
  return gather_width({own.transpose(2, 3), lengths}, comm.collectives()).transpose(2, 3);
}

at::Tensor by_gathered_keys(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::vector<std::int64_t>& lengths, Communicator& comm) {
  return attention(q, all_positions(k, lengths, comm), all_positions(v, lengths, comm));
}

TEST_CASE("right but for what it sends: keys and values gathered") {
  for (const char* name : {"Ulysses", "UlyssesEmptySlices", "RingAttention", "RingAttentionLargeScores"})
    CHECK(attention_verdict(name, by_gathered_keys) == "passed");
  CHECK(attention_verdict("RingMessages", by_gathered_keys) == "2 calls of all_to_all, expected at most 0");
  // Two all-to-alls, as many as Ulysses needs, but of all heads.
  CHECK(attention_verdict("UlyssesMessages", by_gathered_keys) ==
        "30720 bytes sent of all_to_all, expected at most 14976");
}

TEST_CASE("wrong: Ulysses whose heads arrive in another order, or come back so") {
  CHECK(attention_verdict("Ulysses", [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                        const std::vector<std::int64_t>& lengths, Communicator& comm) {
          return ulysses_attention(q, k, v, lengths, comm.collectives()).roll({1}, {1});
        }) == "mismatch");
  CHECK(attention_verdict("Ulysses", [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                        const std::vector<std::int64_t>& lengths, Communicator& comm) {
          return ulysses_attention(q, k.roll({1}, {1}), v, lengths, comm.collectives());
        }) == "mismatch");
}

/// The output of a ring that accumulates each block with `add`: scores, v, and the state to update.
struct Found {
  at::Tensor sum, out;
};
using AddBlock = std::function<void(Found& state, const at::Tensor& scores, const at::Tensor& v)>;

AttentionBy block_by_block(const AddBlock& add) {
  return [add](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::vector<std::int64_t>& lengths,
               Communicator& comm) {
    const std::vector<at::Tensor> keys = all_positions(k, lengths, comm).split_with_sizes(lengths, 2);
    const std::vector<at::Tensor> values = all_positions(v, lengths, comm).split_with_sizes(lengths, 2);
    Found state = {at::zeros_like(q.narrow(3, 0, 1)), at::zeros_like(q)};
    for (std::size_t block = 0; block < keys.size(); ++block) {
      const at::Tensor scores = at::matmul(q, keys[block].transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
      if (keys[block].size(2) > 0) add(state, scores, values[block]);
    }
    return state.out / state.sum;
  };
}

TEST_CASE("wrong: exponentials without a maximum; small scores hide it") {
  const AttentionBy by = block_by_block([](Found& state, const at::Tensor& scores, const at::Tensor& v) {
    state.sum += scores.exp().sum(-1, true);
    state.out += at::matmul(scores.exp(), v);
  });
  CHECK(attention_verdict("RingAttention", by) == "passed");
  CHECK(attention_verdict("RingAttentionLargeScores", by) == "mismatch");
}

TEST_CASE("wrong: each block's own maximum, and no correction of what came before") {
  CHECK(attention_verdict("RingAttention",
                          block_by_block([](Found& state, const at::Tensor& scores, const at::Tensor& v) {
                            const at::Tensor weights = (scores - scores.amax(-1, true)).exp();
                            state.sum += weights.sum(-1, true);
                            state.out += at::matmul(weights, v);
                          })) == "mismatch");
}

TEST_CASE("wrong: each block's softmax, averaged") {
  CHECK(attention_verdict("RingAttention",
                          block_by_block([](Found& state, const at::Tensor& scores, const at::Tensor& v) {
                            state.sum += 1;
                            state.out += at::matmul(at::softmax(scores, -1), v);
                          })) == "mismatch");
}

TEST_CASE("right but for what it sends: keys and values in separate messages") {
  const AttentionBy by = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::vector<std::int64_t>& lengths, Communicator& comm) {
    comm.point_to_point();
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
