#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "common/tensor/seeded.h"
#include "optC_model_parallel/cases/cases.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kMostCutImages = 33;
constexpr std::int64_t kMostCuts = 9;

struct SplitRow {
  std::vector<double> costs;
  std::int64_t num_stages;
};

/// Costs for which equal numbers of layers, or filling each stage up to the mean, are not optimal; and random eighths,
/// whose sums are exact.
std::vector<SplitRow> split_rows(std::uint64_t seed) {
  std::vector<SplitRow> rows = {{{4, 1, 1, 1, 1}, 2},          {{1, 1, 1, 1, 4}, 2}, {{353, 240, 48, 10, 1}, 4},
                                {{1, 9, 9, 1, 1, 9, 9, 1}, 3}, {{0, 0, 5, 0, 0}, 4}, {{3, 1, 2}, 3},
                                {{5e9, 3e9, 4e9}, 2},          {{2, 7}, 1}};
  for (std::int64_t i = 0; i < 12; ++i) {
    const std::int64_t num_layers = 4 + i % 7;
    const at::Tensor random = seeded_rand({num_layers}, seed + static_cast<std::uint64_t>(i), at::kDouble);
    SplitRow row{{}, 2 + i % std::min<std::int64_t>(4, num_layers - 1)};
    for (const at::Tensor& cost : random.mul(40).floor().add(1).div(8).unbind())
      row.costs.push_back(cost.item<double>());
    rows.push_back(row);
  }
  return rows;
}

/// By trying all splits.
double smallest_largest_cost(const std::vector<double>& costs, std::size_t begin, std::int64_t num_stages) {
  double best = std::numeric_limits<double>::infinity(), first = 0;
  if (num_stages == 0) return begin == costs.size() ? 0 : best;
  for (std::size_t end = begin + 1; end <= costs.size(); ++end) {
    first += costs[end - 1];
    best = std::min(best, std::max(first, smallest_largest_cost(costs, end, num_stages - 1)));
  }
  return best;
}

/// Any consecutive stages that hold every layer once make a pipeline; balanced ones make a fast one.
Case split_case(const std::string& name, bool balanced) {
  Case result = local_case("optC.split_layers", name);
  result.inputs = [balanced](const CasePlace& place) {
    const std::vector<SplitRow> rows = split_rows(place.seed);
    const auto count = static_cast<std::int64_t>(rows.size());
    const at::Tensor costs = at::zeros({count, 10}, at::kDouble), shapes = at::zeros({count, 2}, at::kLong);
    for (std::int64_t i = 0; i < count; ++i) {
      const SplitRow& row = rows[static_cast<std::size_t>(i)];
      const auto num_layers = static_cast<std::int64_t>(row.costs.size());
      costs[i].narrow(0, 0, num_layers).copy_(at::tensor(row.costs, at::kDouble));
      shapes[i][0] = num_layers;
      shapes[i][1] = row.num_stages;
    }
    CaseInputs inputs;
    inputs.tensors = {{"input.costs", costs}, {"input.shapes", shapes}};
    inputs.numbers = {{"balanced", balanced ? 1.0 : 0.0}};
    return inputs;
  };
  result.expected = [balanced](const CasePlace& place) {
    std::vector<double> largest;
    for (const SplitRow& row : split_rows(place.seed))
      largest.push_back(smallest_largest_cost(row.costs, 0, row.num_stages));
    TensorMap expected = {{"faults", at::zeros({static_cast<std::int64_t>(largest.size())}, at::kLong)}};
    if (balanced) expected["largest"] = at::tensor(largest, at::kDouble);
    return expected;
  };
  result.meaning = [](const CasePlace& place, const std::string& name, at::IntArrayRef index) {
    const SplitRow row = split_rows(place.seed).at(static_cast<std::size_t>(index[0]));
    return fmt::format("{} of {} stages for layers that cost {}",
                       name == "largest" ? "the cost of the dearest" : "gaps, overlaps and layers left out",
                       row.num_stages, fmt::join(row.costs, ", "));
  };
  return result;
}

Case cut_case() {
  Case result = local_case("optC.micro_batches", "MicroBatches");
  result.inputs = [](const CasePlace&) {
    CaseInputs inputs;
    inputs.numbers = {{"most_images", kMostCutImages}, {"most_micro_batches", kMostCuts}};
    return inputs;
  };
  result.expected = [](const CasePlace&) {
    const at::Tensor begins = at::full({kMostCutImages + 1, kMostCuts, kMostCuts}, -1, at::kLong);
    const at::Tensor sizes = begins.clone();
    for (std::int64_t images = 0; images <= kMostCutImages; ++images) {
      for (std::int64_t m = 1; m <= kMostCuts; ++m) {
        for (std::int64_t i = 0; i < m; ++i) {
          const std::int64_t size = images / m + (i < images % m ? 1 : 0);
          sizes[images][m - 1][i] = size;
          if (size > 0) begins[images][m - 1][i] = i * (images / m) + std::min(i, images % m);
        }
      }
    }
    const at::Tensor counts = at::arange(1, kMostCuts + 1, at::kLong).expand({kMostCutImages + 1, kMostCuts});
    return TensorMap{{"begins", begins}, {"sizes", sizes}, {"counts", counts.contiguous()}};
  };
  result.meaning = [](const CasePlace&, const std::string& name, at::IntArrayRef index) {
    const std::string of = fmt::format("{} images in {} micro-batches", index[0], index[1] + 1);
    if (name == "counts") return "the micro-batches of " + of;
    return fmt::format("the {} of micro-batch {} of {}", name == "sizes" ? "size" : "first image", index[2], of);
  };
  return result;
}

CaseInputs loss_inputs(const CasePlace& place, at::ScalarType dtype) {
  CaseInputs inputs;
  const at::Tensor logits = seeded_randn({29, 10}, place.seed, at::kDouble).mul(2);
  // In float32 its power is infinite, and the other probabilities are 0.
  if (dtype == at::kFloat) logits[3][1] = 200;
  // Labels in order, so that the parts differ as much as possible.
  inputs.tensors = {{"input.logits", logits.to(dtype)},
                    {"input.labels", at::arange(29, at::kLong).div(3, "floor")},
                    {"input.sizes", at::tensor(std::vector<std::int64_t>{8, 7, 7, 0, 6, 1}, at::kLong)}};
  return inputs;
}

Case loss_case(const std::string& name, at::ScalarType dtype) {
  // Sums of 10 terms, and of up to 8 of these, in any order.
  Case result = local_case("optC.micro_batch_loss", name, by_norm(dtype == at::kDouble ? 1e-12 : 1e-5));
  result.inputs = [dtype](const CasePlace& place) { return loss_inputs(place, dtype); };
  result.expected = [dtype](const CasePlace& place) {
    const CaseInputs inputs = loss_inputs(place, dtype);
    const at::Tensor logits = inputs.tensor("input.logits").to(at::kDouble);
    const at::Tensor is_label = at::one_hot(inputs.tensor("input.labels"), 10).to(at::kDouble);
    const at::Tensor probabilities = logits.exp() / logits.exp().sum(1, true);
    const at::Tensor of_images = -(probabilities.log() * is_label).sum(1) / 29;
    std::vector<at::Tensor> parts;
    std::int64_t begin = 0;
    for (const at::Tensor& size : inputs.tensor("input.sizes").unbind()) {
      parts.push_back(of_images.narrow(0, begin, size.item<std::int64_t>()).sum());
      begin += size.item<std::int64_t>();
    }
    return TensorMap{{"parts", at::stack(parts).to(dtype)},
                     {"logits.grad", ((probabilities - is_label) / 29).to(dtype)}};
  };
  result.known_mistakes = {
      {"mean_of_micro_batch",
       "a micro-batch's own mean in place of its part of the batch's: divide its sum by batch_size (an empty one is 0, "
       "not 0 / 0)",
       [dtype, right = result.expected](const CasePlace& place) {
         TensorMap results = right(place);
         std::vector<at::Tensor> of_rows;  // by how much an image's part is too large
         const at::Tensor sizes = loss_inputs(place, dtype).tensor("input.sizes").to(at::kDouble);
         for (const at::Tensor& size : sizes.unbind())
           of_rows.push_back((29 / size).expand({size.item<std::int64_t>(), 1}));
         results.at("parts") = (results.at("parts").to(at::kDouble) * 29 / sizes).to(dtype);
         results.at("logits.grad") = (results.at("logits.grad").to(at::kDouble) * at::cat(of_rows)).to(dtype);
         return results;
       }}};
  return result;
}

constexpr int kNumStageInputs = 4;

/// Uneven micro-batches, one of them empty, that come back in a different order; as rows of micro-batch and 1 for
/// forward, 0 for backward.
CaseInputs stage_inputs(const CasePlace& place, bool recompute) {
  CaseInputs inputs;
  inputs.numbers = {{"recompute", recompute ? 1.0 : 0.0}};
  std::uint64_t seed = place.seed;
  const auto random = [&](at::IntArrayRef sizes) { return seeded_randn(sizes, seed++, at::kDouble); };
  constexpr std::int64_t kIn = 5, kHidden = 32, kOut = 3;
  inputs.tensors = {{"weight.first", random({kHidden, kIn}).mul(0.4)},
                    {"weight.second", random({kOut, kHidden}).mul(0.2)},
                    {"input.many", random({64, kIn})}};
  const std::int64_t sizes[kNumStageInputs] = {3, 2, 0, 1};
  for (int i = 0; i < kNumStageInputs; ++i) {
    inputs.tensors[fmt::format("input.x{}", i)] = random({sizes[i], kIn});
    inputs.tensors[fmt::format("input.output_grad{}", i)] = random({sizes[i], kOut});
  }
  inputs.tensors["input.steps"] =
      at::tensor(std::vector<std::int64_t>{0, 1, 1, 1, 2, 1, 1, 0, 3, 1, 0, 0, 3, 0, 2, 0}, at::kLong).view({8, 2});
  return inputs;
}

/// The chain rule by hand, as matrices: out = tanh(tanh(x first') second').
TensorMap stage_expected(const CaseInputs& inputs, bool recompute) {
  const at::Tensor& first = inputs.tensor("weight.first");
  const at::Tensor& second = inputs.tensor("weight.second");
  TensorMap results = {{"first.grad", at::zeros_like(first)}, {"second.grad", at::zeros_like(second)}};
  for (int i = 0; i < kNumStageInputs; ++i) {
    const at::Tensor& x = inputs.tensor(fmt::format("input.x{}", i));
    const at::Tensor hidden = at::matmul(x, first.t()).tanh(), out = at::matmul(hidden, second.t()).tanh();
    for (const bool is_last : {false, true}) {
      const at::Tensor out_grad = is_last ? out * 2 / 7 : inputs.tensor(fmt::format("input.output_grad{}", i));
      const at::Tensor before_out = out_grad * (1 - out * out);
      const at::Tensor before_hidden = at::matmul(before_out, second) * (1 - hidden * hidden);
      results["second.grad"] += at::matmul(before_out.t(), hidden);
      results["first.grad"] += at::matmul(before_hidden.t(), x);
      const std::string name = fmt::format("{}{}", is_last ? "last" : "middle", i);
      results[name + ".output"] = is_last ? out.square().sum() / 7 : out;
      results[name + ".input.grad"] = at::matmul(before_hidden, first);
    }
  }
  for (const char* stage : {"middle", "last"}) {
    std::int64_t num_live = 0;
    for (const at::Tensor& step : inputs.tensor("input.steps").unbind()) {
      const bool forward = step[1].item<bool>();
      num_live += forward ? 1 : -1;
      results[fmt::format("{}{}.live_after_{}", stage, step[0].item<int>(), forward ? "forward" : "backward")] =
          make_count(num_live);
    }
  }
  results["num_calls"] = make_count(2 * kNumStageInputs * (recompute ? 2 : 1));
  results["num_outputs_with_a_graph"] = make_count(0);
  if (recompute) results["bytes_held_beyond_input"] = make_count(0);
  return results;
}

Case stage_case(const std::string& task, const std::string& name, bool recompute) {
  Case result = local_case(task, name, by_norm(1e-12));
  result.inputs = [recompute](const CasePlace& place) { return stage_inputs(place, recompute); };
  result.expected = [recompute](const CasePlace& place) {
    return stage_expected(stage_inputs(place, recompute), recompute);
  };
  return result;
}

}  // namespace

Case micro_batch_loss_float32_case() {
  return loss_case("MicroBatchLossFloat32", at::kFloat);
}

std::vector<Case> part_cases() {
  return {split_case("SplitLayersConsecutive", false),
          split_case("SplitLayers", true),
          cut_case(),
          loss_case("MicroBatchLoss", at::kDouble),
          stage_case("optC.stage", "Stage", false),
          stage_case("optC.recompute", "Recompute", true)};
}

}  // namespace lab::optc
