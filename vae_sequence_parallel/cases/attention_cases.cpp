#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "common/comm/messages/model_time.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/cases/module_case.h"
#include "vae_sequence_parallel/layers.h"

namespace lab::vae {
namespace {

enum class By { kUlysses, kRing };

enum class Scores {
  kSmall,
  kLarge,  ///< about 1100, but close to each other
  /// On ranks 0, 2, ... about 800 of every second key, on the others -200; 900 less of the keys between: from block to
  /// block the maximum rises and falls, and within a block scores differ, by more than exp() can express in float64,
  /// which is 709. Every second query has small scores: rows next to each other have maxima that differ by as much.
  kAlternating,
};

struct AttentionCase {
  std::string task, name;
  By by = By::kRing;
  Widths lengths = spread(37);  ///< positions of each rank
  at::ScalarType dtype = at::kFloat;
  bool with_gradient = false;
  bool costed = false;              ///< checked against its cost bounds, and for what it holds
  bool twice_in_one_graph = false;  ///< see attention_call()
  bool after_subgroup = false;      ///< see attention_call()
  Scores scores = Scores::kSmall;
  std::int64_t batch = 2;
  std::int64_t head_channels = 8;

  /// An odd number for the ring; for Ulysses, a multiple of the number of ranks.
  std::int64_t num_heads(int size) const { return by == By::kRing ? 3 : 2 * size; }
};

/// Adds `level[n]` to the scores of key n with every second query of each head, through the vectors' first channel.
void add_to_scores(TensorMap& whole, const at::Tensor& level) {
  constexpr double kQuery = 16;
  at::Tensor of_queries = whole["q"].select(3, 0);  // [B, heads, N]
  of_queries.copy_(at::arange(of_queries.size(2), at::kDouble).add(1).remainder(2).mul(kQuery));
  const double scale = std::sqrt(static_cast<double>(whole["q"].size(3)));
  whole["k"].select(3, 0).copy_(level * (scale / kQuery));
}

/// Whole "q", "k", "v", "grad_out". All grow along the positions, so that the last ranks have the largest scores.
TensorMap make_whole(const AttentionCase& test_case, const CasePlace& place) {
  TensorMap whole;
  std::uint64_t seed = place.seed;
  for (const char* name : {"q", "k", "v", "grad_out"}) {
    PictureSetup setup = {test_case.batch, test_case.num_heads(place.size), test_case.head_channels, test_case.lengths,
                          test_case.dtype};
    const bool is_key = name == std::string("k"), is_query = name == std::string("q");
    if (test_case.scores == Scores::kLarge && (is_key || is_query)) setup.mean = 20;
    if (test_case.scores == Scores::kLarge && is_key) setup.deviation = 0.1;
    whole[name] = make_picture(setup, place.size, seed++).transpose(2, 3).contiguous();
  }
  if (test_case.scores == Scores::kAlternating) {
    const std::vector<std::int64_t> lengths = test_case.lengths(place.size);
    const at::Tensor of_ranks = 300 + 500 * (1 - 2 * at::arange(place.size, at::kDouble).remainder(2));
    const at::Tensor of_keys = of_ranks.repeat_interleave(at::tensor(lengths, at::kLong));
    add_to_scores(whole, of_keys - 900 * at::arange(of_keys.numel(), at::kDouble).remainder(2));
  }
  return whole;
}

CaseInputs make_inputs(const AttentionCase& test_case, const CasePlace& place) {
  const std::vector<std::int64_t> lengths = test_case.lengths(place.size);
  CaseInputs inputs;
  for (const auto& [name, tensor] : make_whole(test_case, place)) {
    if (name != "grad_out" || test_case.with_gradient)
      inputs.tensors["input." + name] = own_part(tensor, 2, lengths, place.rank).contiguous();
  }
  inputs.tensors["input.lengths"] = at::tensor(lengths, at::kLong);
  inputs.numbers["by_ring"] = test_case.by == By::kRing ? 1 : 0;
  if (test_case.twice_in_one_graph) inputs.numbers["twice_in_one_graph"] = 1;
  if (test_case.after_subgroup) inputs.numbers["after_subgroup"] = 1;
  return inputs;
}

TensorMap compute_expected(const AttentionCase& test_case, const CasePlace& place) {
  const auto own = [&](const at::Tensor& all) { return own_part(all, 2, test_case.lengths(place.size), place.rank); };
  TensorMap results, whole = make_whole(test_case, place);
  for (const std::string name : {"q", "k", "v"}) results[name] = own(whole[name]);  // as they were
  for (auto& [name, tensor] : whole) tensor = tensor.to(at::kDouble).requires_grad_(test_case.with_gradient);
  if (test_case.with_gradient) {
    const at::Tensor out = attention(whole["q"], whole["k"], whole["v"]);
    out.backward(whole["grad_out"]);
    results["out"] = own(out.detach());
    if (test_case.twice_in_one_graph) {
      const at::Tensor other = attention(whole["k"], whole["v"], whole["q"]);
      other.backward(whole["grad_out"]);
      results["other_out"] = own(other.detach());
    }
    for (const std::string name : {"q", "k", "v"}) results[name + ".grad"] = own(whole[name].grad());
  } else {
    results["out"] = attention(own(whole["q"]), whole["k"], whole["v"]);
  }
  for (auto& [name, tensor] : results) tensor = tensor.to(test_case.dtype).contiguous();
  return results;
}

/// What the ring gives on a rank, from its own block on, if what was added before a larger maximum came is not corrected:
/// the sum, or the output, or neither.
at::Tensor not_rescaled(const AttentionCase& test_case, const CasePlace& place, bool rescale_sum, bool rescale_out) {
  TensorMap whole = make_whole(test_case, place);
  for (auto& [name, tensor] : whole) tensor = tensor.to(at::kDouble);
  const auto of = [&](const char* name, int rank) {
    return own_part(whole[name], 2, test_case.lengths(place.size), rank);
  };
  const at::Tensor q = of("q", place.rank) / std::sqrt(static_cast<double>(test_case.head_channels));
  at::Tensor max = at::full({1}, -std::numeric_limits<double>::infinity(), at::kDouble);
  at::Tensor sum = at::zeros({1}, at::kDouble), out = at::zeros({1}, at::kDouble);
  for (int step = 0; step < place.size; ++step) {
    const int owner = (place.rank + place.size - step) % place.size;
    const at::Tensor k = of("k", owner);
    if (k.numel() == 0) continue;
    const at::Tensor scores = q.matmul(k.transpose(2, 3)), new_max = at::maximum(max, scores.amax(-1, true));
    const at::Tensor weights = at::exp(scores - new_max), correction = at::exp(max - new_max);
    sum = (rescale_sum ? sum * correction : sum) + weights.sum(-1, true);
    out = (rescale_out ? out * correction : out) + weights.matmul(of("v", owner));
    max = new_max;
  }
  return (out / sum).to(test_case.dtype).contiguous();
}

std::vector<KnownMistake> ring_mistakes(const AttentionCase& test_case) {
  std::vector<KnownMistake> mistakes;
  for (const auto& [rescale_sum, rescale_out] :
       {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
    mistakes.push_back(
        {"not_rescaled",
         "where a block has a larger maximum, what was added before it is not multiplied by exp(old - new)",
         [test_case, with_sum = rescale_sum, with_out = rescale_out](const CasePlace& place) {
           return TensorMap{{"out", not_rescaled(test_case, place, with_sum, with_out)}};
         }});
  }
  return mistakes;
}

/// Each rank computes `each` heads next to each other, and the results are joined head by head in place of rank by rank;
/// or the other way round.
std::vector<KnownMistake> ulysses_mistakes(const AttentionCase& test_case) {
  std::vector<KnownMistake> mistakes;
  for (const bool by_rank : {true, false}) {
    mistakes.push_back({"other_order_of_heads",
                        "the heads come back in another order: with H heads on P ranks, rank r has heads r * H / P to "
                        "(r + 1) * H / P - 1, on the way there and on the way back",
                        [test_case, by_rank](const CasePlace& place) {
                          const at::Tensor out = compute_expected(test_case, place).at("out");
                          const std::int64_t size = place.size, each = out.size(1) / size;
                          const at::Tensor parts = out.view(
                              {out.size(0), by_rank ? size : each, by_rank ? each : size, out.size(2), out.size(3)});
                          return TensorMap{{"out", parts.transpose(1, 2).flatten(1, 2).contiguous()}};
                        }});
  }
  return mistakes;
}

PictureCost picture_in(const AttentionCase& test_case, const CasePlace& place) {
  PictureCost picture;
  picture.rank = place.rank;
  picture.batch = test_case.batch;
  picture.widths = test_case.lengths(place.size);
  picture.value_bytes = static_cast<std::int64_t>(c10::elementSize(test_case.dtype));
  picture.with_gradient = test_case.with_gradient;
  return picture;
}

PictureCost compute_cost(const AttentionCase& test_case, PictureCost picture, int num_ranks) {
  const std::int64_t heads = test_case.num_heads(num_ranks);
  return test_case.by == By::kRing ? with_ring(std::move(picture), heads, test_case.head_channels)
                                   : with_ulysses(std::move(picture), heads, test_case.head_channels);
}

PictureCost attention_cost(const AttentionCase& test_case, const CasePlace& place) {
  return compute_cost(test_case, picture_in(test_case, place), place.size);
}

/// All ranks together do what one process does.
ShareBound attention_work(const AttentionCase& test_case, const CasePlace& place) {
  std::int64_t all = 0;
  for (int rank = 0; rank < place.size; ++rank)
    all += least_work(attention_cost(test_case, {rank, place.size, place.seed}));
  const std::int64_t num_calls = test_case.twice_in_one_graph ? 2 : 1;
  return {num_calls * all, num_calls * most_work(attention_cost(test_case, place))};
}

/// Compared with the same in one process, which holds all scores of all heads.
ShareBound attention_memory(const AttentionCase& test_case, const CasePlace& place) {
  const PictureCost whole = in_one_process(picture_in(test_case, place));
  return {compute_cost(test_case, whole, place.size).least_held, attention_cost(test_case, place).most_held};
}

Case attention_case(const AttentionCase& test_case) {
  Case result;
  result.task = test_case.task;
  result.name = result.prefix = test_case.name;
  result.tolerance = tolerance_of(test_case.dtype);
  // What is summed in float64 and rounded once has the same bits, but for a value near the middle between two.
  if (test_case.dtype == at::kFloat && !test_case.with_gradient) result.tolerance.relative_norm = 1e-8;
  result.inputs = [test_case](const CasePlace& place) { return make_inputs(test_case, place); };
  result.expected = [test_case](const CasePlace& place) { return compute_expected(test_case, place); };
  result.known_mistakes = test_case.by == By::kRing ? ring_mistakes(test_case) : ulysses_mistakes(test_case);
  result.work = [test_case](const CasePlace& place) { return attention_work(test_case, place); };
  if (test_case.costed) {
    result.bounds = [test_case](const CasePlace& place) {
      return make_bounds(attention_cost(test_case, place), test_case.task);
    };
  }
  const bool both_passes_of_ulysses = test_case.by == By::kUlysses && test_case.with_gradient;
  if (test_case.costed && !both_passes_of_ulysses)
    result.memory = [test_case](const CasePlace& place) { return attention_memory(test_case, place); };
  return result;
}

AttentionCase costed_case(By by, bool with_gradient) {
  AttentionCase test_case;
  test_case.by = by;
  test_case.task = by == By::kRing ? "vae.ring_messages" : "vae.ulysses_messages";
  test_case.name = by == By::kRing ? "RingMessages" : "UlyssesMessages";
  if (with_gradient) {
    test_case.task = "vae.attention_gradient";
    test_case.name += "Gradient";
  }
  test_case.dtype = with_gradient ? at::kDouble : at::kFloat;
  test_case.with_gradient = with_gradient;
  test_case.costed = true;
  return test_case;
}

/// What a rank may wait for the blocks of the others: half the latency in each step, as each block can travel while the
/// one before is at work, which takes longer. The gradients of a rank's own block come home last, after all work.
TimeBound time_of_hidden_blocks(const AttentionCase& test_case, int size, std::uint64_t seed) {
  const comm::ModelRates rates;
  TimeBound bound{0, TimeBound::kAny};
  bound.max_waiting_ps = (size - 1) * rates.latency_ps / 2;
  if (!test_case.with_gradient || size == 1) return bound;
  std::int64_t most_bytes = 0;
  for (int rank = 0; rank < size; ++rank) {
    const PictureCost picture = picture_in(test_case, {rank, size, seed});
    most_bytes = std::max(
        most_bytes, 2 * picture.value_bytes * picture.values(test_case.num_heads(size) * test_case.head_channels));
  }
  bound.max_waiting_ps += bound.max_waiting_ps + rates.latency_ps + most_bytes * rates.ps_per_byte;
  return bound;
}

/// Positions enough that most of what a rank holds are scores, and that a step takes longer than a message.
Case ring_messages_case(bool with_gradient) {
  AttentionCase test_case = costed_case(By::kRing, with_gradient);
  test_case.lengths = spread_per_rank(with_gradient ? 64 : 128);
  test_case.batch = 1;
  test_case.head_channels = 5;
  Case result = attention_case(test_case);
  result.time = [test_case](int size, std::uint64_t seed) { return time_of_hidden_blocks(test_case, size, seed); };
  return result;
}

/// What a rank may wait: twice as long as its all-to-alls take, so that it may meet the others, too, but not wait while
/// they do their work, which takes longer.
TimeBound time_of_exchanges(const AttentionCase& test_case, int size, std::uint64_t seed) {
  const comm::ModelRates rates;
  TimeBound bound{0, TimeBound::kAny};
  bound.max_waiting_ps = 0;
  for (int rank = 0; rank < size; ++rank) {
    const LedgerEntry cost = attention_cost(test_case, {rank, size, seed}).all_to_all;
    const auto num_rounds = static_cast<std::int64_t>(cost.calls) * (size - 1);
    const auto num_bytes = static_cast<std::int64_t>(std::max(cost.bytes_sent, cost.bytes_received));
    const std::int64_t needed_ps = num_rounds * rates.latency_ps + num_bytes * rates.ps_per_byte;
    bound.max_waiting_ps = std::max(bound.max_waiting_ps, 2 * needed_ps);
  }
  return bound;
}

/// Vectors so long that most of what a rank holds are vectors.
Case ulysses_messages_case(bool with_gradient) {
  AttentionCase test_case = costed_case(By::kUlysses, with_gradient);
  test_case.head_channels = 32;
  Case result = attention_case(test_case);
  result.time = [test_case](int size, std::uint64_t seed) { return time_of_exchanges(test_case, size, seed); };
  return result;
}

Case with_scores(AttentionCase test_case, Scores scores) {
  test_case.dtype = at::kDouble;
  test_case.scores = scores;
  return attention_case(test_case);
}

}  // namespace

std::vector<Case> attention_cases() {
  const std::string ulysses = "vae.ulysses", ring = "vae.ring_attention";
  AttentionCase ulysses_of_one = {ulysses, "UlyssesUnevenDouble", By::kUlysses, rising_widths, at::kDouble};
  AttentionCase ring_of_three = {ring, "RingAttentionUnevenDouble", By::kRing, rising_widths, at::kDouble};
  ulysses_of_one.batch = 1;
  ring_of_three.batch = 3;
  AttentionCase ulysses_large = {ulysses, "Ulysses", By::kUlysses, spread(40)};
  AttentionCase ring_large = {ring, "RingAttention", By::kRing, spread(40)};
  ulysses_large.scores = ring_large.scores = Scores::kLarge;  // sums in float32 would show
  AttentionCase ulysses_with_gaps = {ulysses, "UlyssesEmptySlices", By::kUlysses, gapped_widths};
  AttentionCase ring_with_gaps = {ring, "RingAttentionEmptySlices", By::kRing, gapped_widths};
  ulysses_with_gaps.after_subgroup = ring_with_gaps.after_subgroup = true;
  return {attention_case(ulysses_large),
          with_scores(ulysses_of_one, Scores::kAlternating),
          attention_case(ulysses_with_gaps),
          ulysses_messages_case(false),
          attention_case(ring_large),
          attention_case(ring_of_three),
          attention_case(ring_with_gaps),
          with_scores({ring, "RingAttentionLargeScores"}, Scores::kLarge),
          with_scores({ring, "RingAttentionAlternatingScores"}, Scores::kAlternating),
          ring_messages_case(false)};
}

std::vector<Case> attention_gradient_cases() {
  const std::string task = "vae.attention_gradient";
  AttentionCase alternating = {task, "RingAttentionAlternatingScoresGradient"};
  alternating.with_gradient = true;
  AttentionCase two_ulysses = {task, "UlyssesGradient", By::kUlysses, gapped_widths, at::kDouble, true};
  AttentionCase two_rings = {task, "RingAttentionGradient", By::kRing, gapped_widths, at::kDouble, true};
  two_ulysses.twice_in_one_graph = two_rings.twice_in_one_graph = true;
  return {attention_case(two_ulysses),
          ulysses_messages_case(true),
          attention_case(two_rings),
          attention_case({task, "RingAttentionFloatGradient", By::kRing, spread(37), at::kFloat, true}),
          with_scores(alternating, Scores::kAlternating),
          ring_messages_case(true)};
}

}  // namespace lab::vae
