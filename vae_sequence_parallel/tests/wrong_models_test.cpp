#include <c10/core/GradMode.h>

#include <cmath>

#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"
#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/calls/calls.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/tests/wrong_modules.h"

// Each mistake with the blocks, the decoder and the autoencoder that the README warns about, as a wrong solution, and
// the case that finds it.
namespace lab::vae {
namespace {

using testing::contains;

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

TEST_CASE("right but for what it sends and computes: attention of the gathered picture") {
  const ModuleMaker make = attn_by([](const AttnBlock& block, const at::Tensor& x) {
    return block_with(block, x, block.norm.forward(x), block.num_heads, 1);
  });
  CHECK(but_for_work(verdict("AttnBlockUneven", make)));
  CHECK(but_for_work(verdict("AttnBlock8HeadsDouble", make)));
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
  CHECK(but_for_work(verdict("AttnBlockUneven", make)));
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

using ResnetForward = std::function<WidthShard(const ParallelResnetBlock&, const WidthShard&)>;

ModuleMaker resnet_by(const ResnetForward& forward) {
  return [forward](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const ParallelResnetBlock block(weights, inputs.integer("in_channels"), inputs.integer("out_channels"), comm);
    return [=](const WidthShard& x) { return forward(block, x); };
  };
}

WidthShard swished(WidthShard x) {
  x.columns = swish(x.columns.clone());
  return x;
}

/// A layer of the block, applied to this rank's columns only.
template <class Serial>
WidthShard alone(const Serial& layer, const WidthShard& x) {
  return {layer.Serial::forward(x.columns), x.widths};
}

TEST_CASE("wrong: in a residual block one layer sees the own columns only, or one is left out") {
  struct Way {
    bool norm2_alone = false, conv2_alone = false, no_shortcut = false, no_swish2 = false;
  };
  const auto with = [](const Way& way) {
    return resnet_by([way](const ParallelResnetBlock& block, const WidthShard& x) {
      WidthShard h = block.conv1.forward(swished(block.norm1.forward(x)));
      h = way.norm2_alone ? alone<GroupNorm>(block.norm2, h) : block.norm2.forward(h);
      if (!way.no_swish2) h = swished(h);
      h = way.conv2_alone ? alone<Conv2d>(block.conv2, h) : block.conv2.forward(h);
      const WidthShard shortcut =
          block.nin_shortcut && !way.no_shortcut ? block.nin_shortcut->forward(x) : WidthShard{x.columns, x.widths};
      if (way.no_shortcut) return h;
      return WidthShard{h.columns + shortcut.columns, h.widths};
    });
  };
  for (const char* name : {"ResnetBlock", "ResnetBlockShortcut"}) {
    CHECK(verdict(name, with({})) == "passed");
    for (const Way& way : {Way{true}, Way{false, true}, Way{false, false, true}, Way{false, false, false, true}})
      CHECK(verdict(name, with(way)) == "mismatch");
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
  CHECK(but_for_work(verdict("DecoderUneven", make)));
  CHECK(contains(verdict("DecoderTraffic", make), "0 bytes received of all_gather, expected at least "));
}

std::string autoencoder_verdict(const DecodeFunction& decode, const std::vector<Case>& cases = all_cases(),
                                const std::string& name = "AutoEncoderUnevenDouble") {
  return testing::verdict(cases, name, autoencoder_call(decode), 4);
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

/// The serial decoder with the case's parameters, which are not part of what the rank is measured for.
AutoEncoder serial_model(const std::string& case_name) {
  const UnchargedScope parameters;
  const UncountedWork not_decoding;
  const CaseInputs inputs = named_cases(all_cases(), case_name, "test").front().inputs({0, 1, 42});
  CheckpointWeights source(weights_of(inputs), case_name, inputs.tensor("input.latent").scalar_type());
  return {Weights(source), config_of(inputs)};
}

/// Decodes everything on every rank, or on rank 0, which sends the picture to the others.
DecodeFunction decoding_everything(const std::string& case_name, bool everywhere) {
  return [=](const ParallelAutoEncoder&, const at::Tensor& z, Communicator& comm) {
    const AutoEncoder model = serial_model(case_name);
    if (everywhere) return model.decode(z);
    const std::int64_t factor = model.config.downsampling();
    const std::vector<std::int64_t> shape = {z.size(0), model.config.out_channels, z.size(2) * factor,
                                             z.size(3) * factor};
    const at::Tensor picture = comm.rank() == 0 ? model.decode(z).contiguous() : at::empty(shape, z.options());
    return comm.collectives().broadcast(picture, 0);
  };
}

TEST_CASE("right but for what it sends, computes and holds: every rank decodes everything, or rank 0 for all") {
  for (const std::string name : {"AutoEncoder", "AutoEncoderUnevenDouble"}) {
    for (const bool everywhere : {true, false}) {
      CAPTURE(name);
      CAPTURE(everywhere);
      const DecodeFunction decode = decoding_everything(name, everywhere);
      CHECK(contains(autoencoder_verdict(decode, all_cases(), name), "0 bytes received of "));
      const std::string work = autoencoder_verdict(decode, with_free_messages(all_cases()), name);
      CHECK(but_for_work(work));
      if (name == "AutoEncoder")  // the other one is too small to tell
        CHECK(contains(autoencoder_verdict(decode, with_free_messages(all_cases(), true), name),
                       " of one process's memory"));
    }
  }
}

TEST_CASE("right: the picture joined by any operation, but not twice") {
  const auto joining = [](const std::function<at::Tensor(const WidthShard&, Communicator&)>& join) {
    return autoencoder_verdict([join](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
      return join(model.decoder.forward(split_width(unscaled(z, model.config), comm.rank(), comm.size())), comm);
    });
  };
  const auto on_a_canvas = [](const WidthShard& x, Communicator& comm) {
    std::vector<std::int64_t> shape = x.columns.sizes().vec();
    shape[3] = x.total_width();
    const at::Tensor whole = at::zeros(shape, x.columns.options());
    own_part(whole, 3, x.widths, comm.rank()).copy_(x.columns);
    return whole;
  };
  CHECK(joining([&](const WidthShard& x, Communicator& comm) {
          return comm.collectives().all_reduce(on_a_canvas(x, comm));
        }) == "passed");
  CHECK(joining([&](const WidthShard& x, Communicator& comm) {
          const at::Tensor whole = on_a_canvas(x, comm);
          for (int rank = 0; rank < comm.size(); ++rank) {
            const at::Tensor part = own_part(whole, 3, x.widths, rank);
            part.copy_(comm.collectives().broadcast(part.contiguous(), rank));
          }
          return whole;
        }) == "passed");
  CHECK(joining([](const WidthShard& x, Communicator& comm) {
          const std::int64_t widest = *std::max_element(x.widths.begin(), x.widths.end());
          std::vector<at::Tensor> parts = comm.collectives().all_gather(
              at::constant_pad_nd(x.columns, {0, widest - x.columns.size(3)}).contiguous());
          for (std::size_t rank = 0; rank < parts.size(); ++rank)
            parts[rank] = parts[rank].narrow(3, 0, x.widths[rank]);
          return at::cat(parts, 3);
        }) == "passed");
  CHECK(joining([](const WidthShard& x, Communicator& comm) {
          std::vector<at::Tensor> parts;
          std::vector<Request> requests;
          for (int rank = 0; rank < comm.size(); ++rank) {
            std::vector<std::int64_t> shape = x.columns.sizes().vec();
            shape[3] = x.widths[static_cast<std::size_t>(rank)];
            parts.push_back(rank == comm.rank() ? x.columns : at::empty(shape, x.columns.options()));
            if (rank == comm.rank()) continue;
            requests.push_back(comm.point_to_point().irecv(parts.back(), rank));
            requests.push_back(comm.point_to_point().isend(x.columns, rank));
          }
          for (Request& request : requests) request.wait();
          return at::cat(parts, 3);
        }) == "passed");
  CHECK(contains(joining([](const WidthShard& x, Communicator& comm) {
                   gather_width(x, comm.collectives());
                   return gather_width(x, comm.collectives());
                 }),
                 "2 calls of all_to_all, expected at most 1"));
}

TEST_CASE("wrong: the latent is unscaled in place") {
  CHECK(autoencoder_verdict([](const ParallelAutoEncoder& model, const at::Tensor& z, Communicator& comm) {
          z.copy_(unscaled(z, model.config));
          return decoded(model, z, comm);
        }) == "mismatch");
}

TEST_CASE("right but for what it holds, if it sent and computed no more: a decoder of the gathered picture") {
  const ModuleMaker make = [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    return by_gathering(Decoder(weights, config_of(inputs)), comm);
  };
  CHECK(contains(testing::verdict(with_free_messages(all_cases(), true), "DecoderTraffic", module_call(make), 4),
                 " of one process's memory"));
}

}  // namespace
}  // namespace lab::vae
