#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/autoencoder.h"
#include "vae_sequence_parallel/cases.h"
#include "vae_sequence_parallel/checkpoint.h"
#include "vae_sequence_parallel/module_under_test.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/sequence_attention.h"
#include "vae_sequence_parallel/tests/wrong_modules.h"

// Each mistake with what is made of other modules that the README warns of, as a wrong solution, and the case that sees
// it.
namespace lab::vae {
namespace {

using testing::contains;

/// A module in local terms: the serial one on the own columns.
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
    const AttnBlock block(weights, inputs.whole("channels"), inputs.whole("heads"));
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
          return on_own_columns(AttnBlock(weights, inputs.whole("channels"), inputs.whole("heads")));
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

/// This rank's q, k, v and how many positions each rank has, to what attention finds for q.
using AttentionBy = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                             const std::vector<std::int64_t>& lengths, Communicator& comm)>;

std::string attention_verdict(const std::string& case_name, const AttentionBy& by) {
  return testing::verdict(
      all_cases(), case_name,
      [by](Communicator& comm, const CaseInputs& inputs) {
        return TensorMap{{"out", by(inputs.tensor("input.q"), inputs.tensor("input.k"), inputs.tensor("input.v"),
                                    whole_numbers(inputs, "input.lengths"), comm)
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

/// What a ring finds, block by block, when each block's part is added by `add`: scores, v, and the state to change.
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

TEST_CASE("right but for what it sends: keys and values in messages of their own") {
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

using ResnetForward = std::function<WidthShard(const ParallelResnetBlock&, const WidthShard&)>;

ModuleMaker resnet_by(const ResnetForward& forward) {
  return [forward](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const ParallelResnetBlock block(weights, inputs.whole("in_channels"), inputs.whole("out_channels"), comm);
    return [=](const WidthShard& x) { return forward(block, x); };
  };
}

WidthShard swished(WidthShard x) {
  x.columns = swish(x.columns.clone());
  return x;
}

/// Some layer of the block done as if the own columns were all.
template <class Serial>
WidthShard alone(const Serial& layer, const WidthShard& x) {
  return {layer.Serial::forward(x.columns), x.widths};
}

TEST_CASE("wrong: in a residual block one layer sees the own columns only, or the shortcut is left out") {
  struct Way {
    bool norm2_alone = false, conv2_alone = false, no_shortcut = false;
  };
  const auto with = [](const Way& way) {
    return resnet_by([way](const ParallelResnetBlock& block, const WidthShard& x) {
      WidthShard h = block.conv1.forward(swished(block.norm1.forward(x)));
      h = swished(way.norm2_alone ? alone<GroupNorm>(block.norm2, h) : block.norm2.forward(h));
      h = way.conv2_alone ? alone<Conv2d>(block.conv2, h) : block.conv2.forward(h);
      const WidthShard shortcut =
          block.nin_shortcut && !way.no_shortcut ? block.nin_shortcut->forward(x) : WidthShard{x.columns, x.widths};
      if (way.no_shortcut) return h;
      return WidthShard{h.columns + shortcut.columns, h.widths};
    });
  };
  for (const char* name : {"ResnetBlock", "ResnetBlockShortcut"}) {
    CHECK(verdict(name, with({})) == "passed");
    CHECK(verdict(name, with({true, false, false})) == "mismatch");
    CHECK(verdict(name, with({false, true, false})) == "mismatch");
    CHECK(verdict(name, with({false, false, true})) == "mismatch");
  }
  CHECK(verdict("ResnetBlockTraffic", with({})) == "passed");
}

/// The decoder with its last layers done in another way.
using DecoderEnd = std::function<WidthShard(const ParallelDecoder&, WidthShard)>;

ModuleMaker decoder_by(const DecoderEnd& end) {
  return [end](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const ParallelDecoder decoder(weights, config_of(inputs), comm);
    return [=](const WidthShard& z) {
      WidthShard x = decoder.mid.forward(decoder.conv_in.forward(z));
      for (auto level = decoder.up.rbegin(); level != decoder.up.rend(); ++level) {
        for (const ParallelResnetBlock& block : level->block) x = block.forward(x);
        if (level->upsample) x = level->upsample->forward(x);
      }
      return end(decoder, x);
    };
  };
}

TEST_CASE("wrong: the decoder's last norm or last convolution is a serial one, or swish is left out") {
  CHECK(verdict("DecoderUneven", decoder_by([](const ParallelDecoder& decoder, const WidthShard& x) {
                  return decoder.conv_out.forward(swished(decoder.norm_out.forward(x)));
                })) == "passed");
  CHECK(verdict("DecoderUneven", decoder_by([](const ParallelDecoder& decoder, const WidthShard& x) {
                  return decoder.conv_out.forward(swished(alone<GroupNorm>(decoder.norm_out, x)));
                })) == "mismatch");
  CHECK(verdict("DecoderUneven", decoder_by([](const ParallelDecoder& decoder, const WidthShard& x) {
                  return alone<Conv2d>(decoder.conv_out, swished(decoder.norm_out.forward(x)));
                })) == "mismatch");
  CHECK(verdict("DecoderUneven", decoder_by([](const ParallelDecoder& decoder, const WidthShard& x) {
                  return decoder.conv_out.forward(decoder.norm_out.forward(x));
                })) == "mismatch");
}

TEST_CASE("wrong: one layer of the decoder gathers its input; right numbers, but more than its layers send") {
  const ModuleMaker make = [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const ModuleMaker rest = decoder_by([&comm](const ParallelDecoder& decoder, const WidthShard& x) {
      const WidthShard h = swished(decoder.norm_out.forward(x));
      const at::Tensor whole = gathered(h, comm);
      return own_share(decoder.conv_out.Conv2d::forward(whole), h.widths, comm);
    });
    return rest(weights, inputs, comm);
  };
  CHECK(verdict("DecoderUneven", make) == "passed");
  CHECK(verdict("DecoderTraffic", make) == "1 calls of all_to_all, expected at most 0");
}

TEST_CASE("wrong: the whole decoder on every rank; right numbers, but none of its layers' messages") {
  const ModuleMaker make = [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    return by_gathering(Decoder(weights, config_of(inputs)), comm);
  };
  CHECK(verdict("DecoderUneven", make) == "passed");
  CHECK(contains(verdict("DecoderTraffic", make), "0 bytes received of all_gather, expected at least "));
}

using Decode = std::function<at::Tensor(const ParallelAutoEncoder&, const at::Tensor& z, Communicator&)>;

std::string autoencoder_verdict(const Decode& decode) {
  return testing::verdict(
      all_cases(), "AutoEncoderUnevenDouble",
      [decode](Communicator& comm, const CaseInputs& inputs) {
        const c10::NoGradGuard no_grad;
        CheckpointWeights source(weights_of(inputs), "the case", at::kDouble);
        const ParallelAutoEncoder model(Weights(source), config_of(inputs), comm);
        return TensorMap{{"latent", model.encode(inputs.tensor("input.picture"))},
                         {"picture", decode(model, inputs.tensor("input.latent"), comm)}};
      },
      4);
}

at::Tensor decoded(const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
  return gather_width(model.decoder.forward(split_width(z, comm.rank(), comm.size())), comm.collectives());
}

TEST_CASE("wrong: a latent as it is stored, neither scaled nor shifted back, or in the wrong order") {
  CHECK(autoencoder_verdict([](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
          return decoded(model, unscaled(z, model.config), comm);
        }) == "passed");
  CHECK(autoencoder_verdict(decoded) == "mismatch");
  CHECK(autoencoder_verdict([](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
          return decoded(model, z / model.config.scale_factor, comm);
        }) == "mismatch");
  CHECK(autoencoder_verdict([](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
          return decoded(model, (z + model.config.shift_factor) / model.config.scale_factor, comm);
        }) == "mismatch");
}

TEST_CASE("wrong: columns joined in another order, or only the own ones returned") {
  CHECK(autoencoder_verdict([](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
          const at::Tensor picture = decoded(model, unscaled(z, model.config), comm);
          return picture.roll({2 * z.size(3) / comm.size()}, {3});
        }) == "mismatch");
  CHECK(
      contains(autoencoder_verdict([](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
                 return model.decoder.forward(split_width(unscaled(z, model.config), comm.rank(), comm.size())).columns;
               }),
               "result 'picture'"));
}

}  // namespace
}  // namespace lab::vae
