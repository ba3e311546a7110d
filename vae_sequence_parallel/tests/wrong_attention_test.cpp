#include <cmath>
#include <numeric>
#include <string>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/calls/calls.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/layers.h"
#include "vae_sequence_parallel/model/width_shard.h"
#include "vae_sequence_parallel/sequence_attention.h"
#include "vae_sequence_parallel/tests/attention_world.h"
#include "vae_sequence_parallel/tests/wrong_modules.h"

// Each mistake with attention that the README warns about, as a wrong solution: which data reveal it and which let it
// pass, and the case that finds it.
namespace lab::vae {
namespace {

constexpr std::int64_t kRanks = 4, kLength = 4, kHeads = 8, kChannels = 16;
const std::vector<std::int64_t> kLengths(kRanks, kLength);

AttentionData random_case() {
  return random_data({2, kHeads, kRanks * kLength, kChannels}, at::kDouble);
}

/// The scores of every second rank's keys are 8000 higher.
AttentionData large_case() {
  std::vector<std::int64_t> levels;
  for (std::int64_t n = 0; n < kRanks * kLength; ++n) levels.push_back(n / kLength % 2 == 0 ? -4000 : 4000);
  return data_with_levels({2, kHeads, kRanks * kLength, kChannels}, at::kDouble, levels);
}

/// All entries along a dimension equal to the first.
at::Tensor alike(const at::Tensor& x, std::int64_t dim) {
  return x.narrow(dim, 0, 1).expand_as(x).clone();
}

/// The shape of x with each rank's number of positions.
std::vector<std::vector<std::int64_t>> shapes_of_ranks(const at::Tensor& x, const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<std::int64_t>> shapes(lengths.size(), x.sizes().vec());
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) shapes[rank][2] = lengths[rank];
  return shapes;
}

struct Wrong {
  const char* name;
  std::string seen;  ///< x: seen on these data, in their order
  AttentionCall call;
};

void check_seen(const std::vector<AttentionData>& data, const std::vector<Wrong>& table) {
  for (const Wrong& wrong : table) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      CAPTURE(wrong.name);
      CAPTURE(i);
      const TensorMap output = parallel_output(data[i], kLengths, wrong.call), serial = serial_results(data[i]);
      if (wrong.seen[i] == 'x') {
        CHECK(worst_error(output, serial) > 0.05);
        CHECK(worst_rounding(output, serial, data[i]) > 1e6);
      } else {
        CHECK(worst_rounding(output, serial, data[i]) <= 1);
      }
    }
  }
}

/// The blocks that a rank sees on the ring, its own first. Those of others have no gradient.
struct Blocks {
  std::vector<at::Tensor> k, v;
};

Blocks blocks_of_ring(const at::Tensor& k, const at::Tensor& v, const std::vector<std::int64_t>& lengths,
                      Communicator& comm) {
  const auto go_around = [&](const at::Tensor& own) {
    const std::vector<at::Tensor> of_rank = comm.collectives().all_to_all(
        std::vector<at::Tensor>(kRanks, own.detach().contiguous()), shapes_of_ranks(own, lengths));
    std::vector<at::Tensor> seen = {own};
    for (std::int64_t step = 1; step < kRanks; ++step)
      seen.push_back(of_rank[static_cast<std::size_t>((comm.rank() + kRanks - step) % kRanks)]);
    return seen;
  };
  return {go_around(k), go_around(v)};
}

/// The same, all with gradients.
Blocks blocks_with_gradients(const at::Tensor& k, const at::Tensor& v, const std::vector<std::int64_t>& lengths,
                             Communicator& comm) {
  const auto go_around = [&](const at::Tensor& own) {
    const at::Tensor all = gathered({own.transpose(2, 3), lengths}, comm).transpose(2, 3);
    std::vector<at::Tensor> seen = all.split_with_sizes(lengths, 2);
    std::reverse(seen.begin(), seen.end());  // in a ring, that of rank - 1 comes after the own one
    std::rotate(seen.begin(), seen.end() - 1 - comm.rank(), seen.end());
    return seen;
  };
  return {go_around(k), go_around(v)};
}

/// Online softmax, correct by default.
struct Ring {
  std::function<Blocks(Blocks)> blocks = [](Blocks all) { return all; };
  bool with_gradients = false;  ///< of other ranks' blocks, too
  double scale = 1;             ///< on top of 1/sqrt(d)
  bool corrects_sum = true, corrects_out = true;
  /// From the maximum so far and that of the block.
  std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> new_max = [](const at::Tensor& max,
                                                                               const at::Tensor& of_block) {
    return max.defined() ? at::maximum(max, of_block) : of_block;
  };

  at::Tensor operator()(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const std::vector<std::int64_t>& lengths, Communicator& comm) const {
    const auto go_around = with_gradients ? blocks_with_gradients : blocks_of_ring;
    const Blocks seen = blocks(go_around(k, v, lengths, comm));
    const double factor = scale / std::sqrt(static_cast<double>(q.size(3)));
    at::Tensor max, sum, out;
    for (std::size_t i = 0; i < seen.k.size(); ++i) {
      if (seen.k[i].size(2) == 0) continue;  // no maximum
      const at::Tensor scores = at::matmul(q * factor, seen.k[i].transpose(2, 3));
      const at::Tensor next = new_max(max, scores.amax(-1, true).detach());
      const at::Tensor weights = at::exp(scores - next);
      const at::Tensor correction = at::exp((max.defined() ? max : next) - next);
      const at::Tensor block_sum = weights.sum(-1, true), block_out = at::matmul(weights, seen.v[i]);
      sum = sum.defined() ? sum * (corrects_sum ? correction : at::ones({})) + block_sum : block_sum;
      out = out.defined() ? out * (corrects_out ? correction : at::ones({})) + block_out : block_out;
      max = next;
    }
    return out / sum;
  }
};

Ring ring_with(const std::function<void(Ring&)>& change) {
  Ring ring;
  change(ring);
  return ring;
}

Ring ring_of(const std::function<Blocks(Blocks)>& blocks) {
  return ring_with([&](Ring& ring) { ring.blocks = blocks; });
}

at::Tensor averaged(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const std::vector<std::int64_t>& lengths, Communicator& comm) {
  const Blocks seen = blocks_of_ring(k, v, lengths, comm);
  at::Tensor sum = at::zeros_like(q);
  for (std::size_t i = 0; i < kRanks; ++i) sum += attention(q, seen.k[i], seen.v[i]);
  return sum / kRanks;
}

Ring without_maximum() {
  return ring_with([](Ring& ring) {
    ring.new_max = [](const at::Tensor&, const at::Tensor& of_block) { return at::zeros_like(of_block); };
  });
}

/// The first block's maximum, whatever comes after it.
at::Tensor first_maximum(const at::Tensor& max, const at::Tensor& of_block) {
  return max.defined() ? max : of_block;
}

/// The latest block's, also where an earlier one's was larger.
at::Tensor latest_maximum(const at::Tensor&, const at::Tensor& of_block) {
  return of_block;
}

Ring without_correction() {
  return ring_with([](Ring& ring) { ring.corrects_sum = ring.corrects_out = false; });
}

TEST_CASE("wrong: what a ring can get wrong is seen, but not with equal keys or equal values") {
  AttentionData equal_keys = random_case(), equal_values = random_case();
  equal_keys.k = alike(equal_keys.k, 2);
  equal_values.v = alike(equal_values.v, 2);
  const std::vector<AttentionData> data = {random_case(), large_case(), equal_keys, equal_values};
  const auto without = [](std::size_t step) {
    return ring_of([step](Blocks all) {
      for (auto* list : {&all.k, &all.v}) list->erase(list->begin() + static_cast<std::ptrdiff_t>(step));
      return all;
    });
  };
  // On random, large, equal keys, equal values:
  check_seen(data,
             {
                 {"right", "....", Ring()},
                 {"the old sum is not corrected", "xx.x", ring_with([](Ring& r) { r.corrects_sum = false; })},
                 {"the old output is not", "xx.x", ring_with([](Ring& r) { r.corrects_out = false; })},
                 {"neither is", "xx..", without_correction()},
                 {"each block's own softmax, averaged", "xx..", averaged},
                 {"the own block is forgotten", "xxx.", without(0)},
                 {"one round too few", "xxx.", without(kRanks - 1)},
                 {"keys go around, values stay", "xxx.", ring_of([](Blocks all) {
                    return Blocks{all.k, std::vector<at::Tensor>(kRanks, all.v[0])};
                  })},
                 {"values are one step behind", "xx..", ring_of([](Blocks all) {
                    std::rotate(all.v.begin(), all.v.begin() + 1, all.v.end());
                    return all;
                  })},
                 {"no scale", "xx..", ring_with([](Ring& r) { r.scale = std::sqrt(1.0 * kChannels); })},
                 {"the scale of all heads", "xx..", ring_with([](Ring& r) { r.scale = 1 / std::sqrt(1.0 * kHeads); })},
                 {"no maximum", ".x..", without_maximum()},
                 {"the first block's maximum", ".x..", ring_with([](Ring& r) { r.new_max = first_maximum; })},
                 {"the latest block's maximum", ".x..", ring_with([](Ring& r) { r.new_max = latest_maximum; })},
             });
}

TEST_CASE("wrong: gradients of keys and values that stay on the rank whose queries gave them; the output is right") {
  const AttentionData data = random_case();
  const TensorMap serial = serial_results(data), results = parallel_results(data, kLengths, Ring());
  const auto error = [&](const char* name) { return worst_error({{name, results.at(name)}}, serial); };
  const auto rounding = [&](const char* name) { return worst_rounding({{name, results.at(name)}}, serial, data); };
  CHECK(rounding("out") <= 1);
  CHECK(rounding("q") <= 1);
  CHECK(error("k") > 0.05);
  CHECK(error("v") > 0.05);
}

/// Ulysses, correct by default.
struct Ulysses {
  using Order = std::vector<std::size_t>;
  static Order forwards() { return {0, 1, 2, 3}; }
  static Order backwards() { return {3, 2, 1, 0}; }

  Order q = forwards(), k = forwards(), v = forwards(), back = forwards();  ///< of the ranks, in what arrives
  bool interleaves = false;  ///< rank r gets heads r, r + P, ... instead of r * heads / P and the following ones
  bool exchanges_keys = true;
  double scale = 1;

  at::Tensor operator()(const at::Tensor& own_q, const at::Tensor& own_k, const at::Tensor& own_v,
                        const std::vector<std::int64_t>& lengths, Communicator& comm) const {
    const auto self = static_cast<std::size_t>(comm.rank());
    const auto exchange = [&](std::vector<at::Tensor> parts, std::int64_t join, const Order& order) {
      for (at::Tensor& part : parts) part = part.contiguous();
      const std::vector<std::int64_t> own(kRanks, lengths[self]);
      const std::vector<at::Tensor> received =
          comm.collectives().all_to_all(parts, shapes_of_ranks(parts[self], join == 2 ? lengths : own));
      std::vector<at::Tensor> joined;
      for (const std::size_t rank : order) joined.push_back(received[rank]);
      return at::cat(joined, join);
    };
    const auto there = [&](const at::Tensor& x, const Order& order) {
      const at::Tensor dealt = x.unflatten(1, {kHeads / kRanks, kRanks}).transpose(1, 2).flatten(1, 2);
      return exchange((interleaves ? dealt : x).chunk(kRanks, 1), 2, order);
    };
    const auto own_heads = [&](const at::Tensor& x) { return x.chunk(kRanks, 1)[self]; };
    const at::Tensor all_k = exchanges_keys ? there(own_k, k) : own_heads(own_k);
    const at::Tensor all_v = exchanges_keys ? there(own_v, v) : own_heads(own_v);
    return exchange(attention(there(own_q, q) * scale, all_k, all_v).split_with_sizes(lengths, 2), 1, back);
  }
};

Ulysses ulysses_with(const std::function<void(Ulysses&)>& change) {
  Ulysses ulysses;
  change(ulysses);
  return ulysses;
}

TEST_CASE("wrong: what Ulysses can get wrong is seen, but not with heads or positions alike") {
  AttentionData equal_heads = random_case(), equal_positions = random_case();
  for (at::Tensor* x : {&equal_heads.q, &equal_heads.k, &equal_heads.v}) *x = alike(*x, 1);
  for (at::Tensor* x : {&equal_positions.q, &equal_positions.k, &equal_positions.v}) *x = alike(*x, 2);
  const auto last_first = Ulysses::backwards();
  // On random, equal heads, equal positions:
  check_seen(
      {random_case(), equal_heads, equal_positions},
      {
          {"right", "...", Ulysses()},
          {"right: keys and values in the same wrong order", "...",
           ulysses_with([&](Ulysses& u) { u.k = u.v = last_first; })},
          {"keys in another order than values", "xx.", ulysses_with([&](Ulysses& u) { u.k = last_first; })},
          {"queries in another order than results", "xx.", ulysses_with([&](Ulysses& u) { u.q = last_first; })},
          {"heads come back in another order", "x.x", ulysses_with([&](Ulysses& u) { u.back = last_first; })},
          {"heads are dealt out, but come back in a row", "x.x",
           ulysses_with([](Ulysses& u) { u.interleaves = true; })},
          {"keys and values of the own positions", "xx.", ulysses_with([](Ulysses& u) { u.exchanges_keys = false; })},
          {"the scale of all heads", "xx.", ulysses_with([](Ulysses& u) { u.scale = 1 / std::sqrt(1.0 * kHeads); })},
      });
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
        "122880 bytes sent of all_to_all, expected at most 59904");
}

TEST_CASE("right but for what it sends: q, k and v exchanged one by one") {
  CHECK(attention_verdict("Ulysses", Ulysses()) == "passed");
  CHECK(attention_verdict("UlyssesMessages", Ulysses()) == "4 calls of all_to_all, expected at most 2");
}

TEST_CASE("wrong: Ulysses whose heads arrive in another order, or come back so") {
  CHECK(attention_verdict("Ulysses", ulysses_with([](Ulysses& u) { u.k = Ulysses::backwards(); })) == "mismatch");
  CHECK(attention_verdict("Ulysses", ulysses_with([](Ulysses& u) { u.back = Ulysses::backwards(); })) == "mismatch");
}

TEST_CASE("wrong: a ring's softmax without a maximum, which small scores hide, without corrections, or averaged") {
  CHECK(attention_verdict("RingAttention", without_maximum()) == "passed");
  CHECK(attention_verdict("RingAttentionLargeScores", without_maximum()) == "mismatch");
  CHECK(attention_verdict("RingAttention", without_correction()) == "mismatch");
  CHECK(attention_verdict("RingAttention", averaged) == "mismatch");
}

TEST_CASE("wrong: the first block's maximum kept, or the latest one's, which only maxima that rise and fall show") {
  const char* const cases[] = {"RingAttention", "RingAttentionLargeScores", "RingAttentionGradient",
                               "RingAttentionAlternatingScores", "RingAttentionAlternatingScoresGradient"};
  for (const auto new_max : {first_maximum, latest_maximum}) {
    const Ring ring = ring_with([new_max](Ring& r) {
      r.with_gradients = true;
      r.new_max = new_max;
    });
    for (const std::string name : cases) {
      CAPTURE(name);
      CHECK(attention_verdict(name, ring) == (testing::contains(name, "Alternating") ? "mismatch" : "passed"));
    }
  }
  const Ring right = ring_with([](Ring& r) { r.with_gradients = true; });
  for (const char* name : cases) CHECK(attention_verdict(name, right) == "passed");
}

TEST_CASE("right but for what it holds, if it sent no more than a ring: keys and values gathered, with gradients") {
  const AttentionCall by = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::vector<std::int64_t>& lengths, Communicator& comm) {
    const auto all = [&](const at::Tensor& own) {
      return gathered({own.transpose(2, 3), lengths}, comm).transpose(2, 3);
    };
    return attention(q, all(k), all(v));
  };
  CHECK(attention_verdict("RingAttentionGradient", by) == "passed");
  CHECK(testing::contains(
      testing::verdict(with_free_messages(all_cases()), "RingMessagesGradient", attention_call_of(by), 4),
      " of one process's memory"));
}

TEST_CASE("right but for what it holds: Ulysses with room for all heads, of which other ranks' are 0") {
  const AttentionCall by = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::vector<std::int64_t>& lengths, Communicator& comm) {
    const std::int64_t own_heads = q.size(1) / comm.size(), first = comm.rank() * own_heads;
    const auto exchange = [&](const std::vector<at::Tensor>& parts, std::int64_t dim,
                              const std::vector<std::int64_t>& sizes) {
      std::vector<std::vector<std::int64_t>> shapes(lengths.size(), parts[0].sizes().vec());
      for (std::size_t rank = 0; rank < shapes.size(); ++rank) {
        shapes[rank] = parts[static_cast<std::size_t>(comm.rank())].sizes().vec();
        shapes[rank][static_cast<std::size_t>(dim)] = sizes[rank];
      }
      return at::cat(comm.collectives().all_to_all(parts, shapes), dim);
    };
    const at::Tensor received = exchange(at::stack({q, k, v}).chunk(comm.size(), 2), 3, lengths);
    std::vector<std::int64_t> shape = received.sizes().vec();
    shape[2] = q.size(1);
    const at::Tensor all = at::zeros(shape, q.options());
    const at::Tensor own = all.narrow(2, first, own_heads).copy_(received);
    const at::Tensor found = attention(own[0], own[1], own[2]);
    return exchange(found.split_with_sizes(lengths, 2), 1, std::vector<std::int64_t>(lengths.size(), own_heads));
  };
  CHECK(attention_verdict("Ulysses", by) == "passed");
  CHECK(testing::contains(attention_verdict("UlyssesMessages", by), " of one process's memory"));
}

TEST_CASE("wrong: q is scaled in place, or the result is written over it") {
  const auto with = [](bool returns_q) -> AttentionCall {
    return [returns_q](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const std::vector<std::int64_t>& lengths, Communicator& comm) {
      const at::Tensor out = Ulysses()(q, k, v, lengths, comm);
      return returns_q ? q.copy_(out) : (q.mul_(0.5), out);
    };
  };
  CHECK(attention_verdict("Ulysses", Ulysses()) == "passed");
  CHECK(attention_verdict("Ulysses", with(false)) == "mismatch");
  CHECK(testing::contains(attention_verdict("Ulysses", with(true)),
                          "vae.ulysses [Ulysses]: expected a new tensor, got one that shares memory with q"));
}

TEST_CASE("right but for what it sends: ranks that add up their gradients; where they meet, nothing moves") {
  CHECK(attention_verdict("UlyssesMessages", [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                const std::vector<std::int64_t>& lengths, Communicator& comm) {
          comm.collectives().barrier();
          return ulysses_attention(q, k, v, lengths, comm.collectives());
        }) == "passed");
  CHECK(attention_verdict("RingMessagesGradient", [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                     const std::vector<std::int64_t>& lengths, Communicator& comm) {
          comm.collectives().all_reduce(at::zeros({1}));
          return ring_attention(q, k, v, lengths, comm.point_to_point());
        }) == "1 calls of all_reduce, expected at most 0");
}

}  // namespace
}  // namespace lab::vae
