#include "common/tensor/seeded.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/cases/module_case.h"
#include "vae_sequence_parallel/layers.h"

namespace lab::vae {
namespace {

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kHeadChannels = 8;

enum class By { kUlysses, kRing };

struct AttentionCase {
  std::string task, name;
  By by = By::kRing;
  Widths lengths = spread(37);  ///< positions of each rank
  at::ScalarType dtype = at::kFloat;
  bool with_gradient = false;
  bool costed = false;
  bool large_scores = false;  ///< about 1100, but close to each other

  /// An odd number for the ring; for Ulysses, a multiple of the number of ranks.
  std::int64_t num_heads(int size) const { return by == By::kRing ? 3 : 2 * size; }
};

/// Whole "q", "k", "v", "grad_out". All grow along the positions, so that the last ranks have the largest scores.
TensorMap whole_of(const AttentionCase& test_case, const CasePlace& place) {
  TensorMap whole;
  std::uint64_t seed = place.seed;
  for (const char* name : {"q", "k", "v", "grad_out"}) {
    PictureSetup setup = {kBatch, test_case.num_heads(place.size), kHeadChannels, test_case.lengths, test_case.dtype};
    const bool is_key = name == std::string("k"), is_query = name == std::string("q");
    if (test_case.large_scores && (is_key || is_query)) setup.mean = 20;
    if (test_case.large_scores && is_key) setup.deviation = 0.1;
    whole[name] = picture_of(setup, place.size, seed++).transpose(2, 3).contiguous();
  }
  return whole;
}

CaseInputs inputs_of(const AttentionCase& test_case, const CasePlace& place) {
  const std::vector<std::int64_t> lengths = test_case.lengths(place.size);
  CaseInputs inputs;
  for (const auto& [name, tensor] : whole_of(test_case, place)) {
    if (name != "grad_out" || test_case.with_gradient)
      inputs.tensors["input." + name] = own_part(tensor, 2, lengths, place.rank).contiguous();
  }
  inputs.tensors["input.lengths"] = at::tensor(lengths, at::kLong);
  inputs.numbers["by_ring"] = test_case.by == By::kRing ? 1 : 0;
  return inputs;
}

TensorMap expected_of(const AttentionCase& test_case, const CasePlace& place) {
  TensorMap whole = whole_of(test_case, place);
  for (auto& [name, tensor] : whole) tensor = tensor.to(at::kDouble).requires_grad_(test_case.with_gradient);
  const at::Tensor out = attention(whole["q"], whole["k"], whole["v"]);
  TensorMap results = {{"out", out.detach()}};
  if (test_case.with_gradient) {
    out.backward(whole["grad_out"]);
    for (const std::string name : {"q", "k", "v"}) results[name + ".grad"] = whole[name].grad();
  }
  for (auto& [name, tensor] : results)
    tensor = own_part(tensor, 2, test_case.lengths(place.size), place.rank).to(test_case.dtype).contiguous();
  return results;
}

PictureCost attention_cost(const AttentionCase& test_case, const CasePlace& place) {
  PictureCost cost;
  cost.rank = place.rank;
  cost.batch = kBatch;
  cost.widths = test_case.lengths(place.size);
  cost.value_bytes = static_cast<std::int64_t>(c10::elementSize(test_case.dtype));
  cost.with_gradient = test_case.with_gradient;
  const std::int64_t heads = test_case.num_heads(place.size);
  return test_case.by == By::kRing ? with_ring(std::move(cost), heads, kHeadChannels)
                                   : with_ulysses(std::move(cost), heads, kHeadChannels);
}

/// All ranks together do what one process does.
ShareBound attention_work(const AttentionCase& test_case, const CasePlace& place) {
  std::int64_t all = 0;
  for (int rank = 0; rank < place.size; ++rank)
    all += attention_cost(test_case, {rank, place.size, place.seed}).product_flops;
  return {all * (test_case.with_gradient ? 3 : 1), most_work(attention_cost(test_case, place))};
}

Case attention_case(const AttentionCase& test_case) {
  Case result;
  result.task = test_case.task;
  result.name = result.prefix = test_case.name;
  result.tolerance = tolerance_of(test_case.dtype);
  result.inside_backward = test_case.with_gradient;
  result.inputs = [test_case](const CasePlace& place) { return inputs_of(test_case, place); };
  result.expected = [test_case](const CasePlace& place) { return expected_of(test_case, place); };
  result.work = [test_case](const CasePlace& place) { return attention_work(test_case, place); };
  if (test_case.costed) {
    result.bounds = [test_case](const CasePlace& place) {
      return bounds_of(attention_cost(test_case, place), test_case.task);
    };
  }
  return result;
}

Case messages_case(By by, bool with_gradient) {
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
  return attention_case(test_case);
}

}  // namespace

std::vector<Case> attention_cases() {
  const std::string ulysses = "vae.ulysses", ring = "vae.ring_attention";
  return {attention_case(AttentionCase{ulysses, "Ulysses", By::kUlysses, spread(40)}),
          attention_case(AttentionCase{ulysses, "UlyssesUnevenDouble", By::kUlysses, rising_widths, at::kDouble}),
          attention_case(AttentionCase{ulysses, "UlyssesEmptySlices", By::kUlysses, gapped_widths}),
          messages_case(By::kUlysses, false),
          attention_case(AttentionCase{ring, "RingAttention", By::kRing, spread(40)}),
          attention_case(AttentionCase{ring, "RingAttentionUnevenDouble", By::kRing, rising_widths, at::kDouble}),
          attention_case(AttentionCase{ring, "RingAttentionEmptySlices", By::kRing, gapped_widths}),
          attention_case(
              AttentionCase{ring, "RingAttentionLargeScores", By::kRing, spread(37), at::kDouble, false, false, true}),
          messages_case(By::kRing, false)};
}

std::vector<Case> attention_gradient_cases() {
  const std::string task = "vae.attention_gradient";
  return {attention_case(AttentionCase{task, "UlyssesGradient", By::kUlysses, gapped_widths, at::kDouble, true}),
          messages_case(By::kUlysses, true),
          attention_case(AttentionCase{task, "RingAttentionGradient", By::kRing, gapped_widths, at::kDouble, true}),
          messages_case(By::kRing, true)};
}

}  // namespace lab::vae
