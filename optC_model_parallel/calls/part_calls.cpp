#include <fmt/format.h>

#include <algorithm>

#include "common/api/peak_memory.h"
#include "common/api/shapes.h"
#include "optC_model_parallel/calls/calls.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/micro_batches.h"
#include "optC_model_parallel/model/training_record.h"
#include "optC_model_parallel/pipedream.h"
#include "optC_model_parallel/split_layers.h"
#include "optC_model_parallel/weight_versions.h"

namespace lab::optc {
namespace {

/// Stages that are empty or do not begin where the previous one ends; too few or too many; layers left at the end.
std::int64_t count_faults(const std::vector<Slice>& stages, std::int64_t num_layers, std::int64_t num_stages) {
  std::int64_t faults = static_cast<std::int64_t>(stages.size()) != num_stages, layer = 0;
  for (const Slice& stage : stages) {
    faults += stage.begin != layer || stage.size < 1;
    layer = stage.end();
  }
  return faults + (layer != num_layers);
}

/// Undefined if one of them is.
/// Errors    ResultError: they are not all scalars of one dtype
at::Tensor stacked(const std::vector<at::Tensor>& losses) {
  for (const at::Tensor& loss : losses) {
    if (!loss.defined()) return {};
    if (loss.dim() != 0 || loss.scalar_type() != losses.front().scalar_type())
      throw ResultError(
          fmt::format("a micro-batch's loss is {}, expected a scalar of the logits' dtype", describe(loss)));
  }
  return at::stack(losses);
}

/// At [p - 1, stage, i]; -1 where there is no such stage.
template <typename VersionOf>
at::Tensor version_table(const CaseInputs& inputs, const VersionOf& find_version) {
  const std::int64_t count = inputs.integer("num_micro_batches"), most_stages = inputs.integer("most_stages");
  const at::Tensor versions = at::full({most_stages, most_stages, count}, -1, at::kLong);
  auto values = versions.accessor<std::int64_t, 3>();
  for (int p = 1; p <= most_stages; ++p) {
    for (int stage = 0; stage < p; ++stage) {
      for (std::int64_t i = 0; i < count; ++i) values[p - 1][stage][i] = find_version(i, stage, p);
    }
  }
  return versions;
}

/// Inputs: rows of costs, and the number of layers and stages of each row. Results: each row's most expensive stage, and
/// the faults of its stages: missing layers, layers in two stages, stages without a layer.
TensorMap split_call(Communicator&, const CaseInputs& inputs) {
  const at::Tensor& shapes = inputs.tensor("input.shapes");
  const at::Tensor largest = at::zeros({shapes.size(0)}, at::kDouble);
  const at::Tensor faults = at::zeros({shapes.size(0)}, at::kLong);
  for (std::int64_t row = 0; row < shapes.size(0); ++row) {
    const auto num_layers = shapes[row][0].item<std::int64_t>(), num_stages = shapes[row][1].item<std::int64_t>();
    const at::Tensor costs = inputs.tensor("input.costs")[row].narrow(0, 0, num_layers).cpu();
    const std::vector<Slice> stages = split_layers(doubles_in(costs), static_cast<int>(num_stages));
    const std::int64_t found = count_faults(stages, num_layers, num_stages);
    faults[row] = found;
    double most = found == 0 ? 0 : -1;  // where layers are left out, or twice there, no stage has a cost
    for (const Slice& stage : found == 0 ? stages : std::vector<Slice>())
      most = std::max(most, costs.narrow(0, stage.begin, stage.size).sum().item<double>());
    largest[row] = most;
  }
  if (inputs.integer("balanced") == 0) return {{"faults", faults}};
  return {{"largest", largest}, {"faults", faults}};
}

/// Results: where micro-batch i of m begins in a batch of B, and its size, at [B, m - 1, i]; the numbers of slices at
/// [B, m - 1].
TensorMap cut_call(Communicator&, const CaseInputs& inputs) {
  const std::int64_t most_images = inputs.integer("most_images"), most = inputs.integer("most_micro_batches");
  const at::Tensor begins = at::full({most_images + 1, most, most}, -1, at::kLong), sizes = begins.clone();
  const at::Tensor counts = at::zeros({most_images + 1, most}, at::kLong);
  for (std::int64_t images = 0; images <= most_images; ++images) {
    for (std::int64_t m = 1; m <= most; ++m) {
      const std::vector<Slice> slices = micro_batches(images, m);
      counts[images][m - 1] = static_cast<std::int64_t>(slices.size());
      for (std::int64_t i = 0; i < std::min(m, static_cast<std::int64_t>(slices.size())); ++i) {
        const Slice& slice = slices[static_cast<std::size_t>(i)];
        sizes[images][m - 1][i] = slice.size;
        if (slice.size > 0) begins[images][m - 1][i] = slice.begin;  // an empty one may begin anywhere
      }
    }
  }
  return {{"begins", begins}, {"sizes", sizes}, {"counts", counts}};
}

/// Results: the parts, and all gradients of the logits.
TensorMap loss_call(Communicator&, const CaseInputs& inputs) {
  const at::Tensor logits = inputs.tensor("input.logits").clone().requires_grad_();
  const at::Tensor& labels = inputs.tensor("input.labels");
  std::vector<at::Tensor> parts;
  std::int64_t begin = 0;
  for (const at::Tensor& size : inputs.tensor("input.sizes").unbind()) {
    const auto images = size.item<std::int64_t>();
    parts.push_back(micro_batch_loss(logits.narrow(0, begin, images), labels.narrow(0, begin, images), labels.size(0)));
    begin += images;
  }
  const at::Tensor all = stacked(parts);
  if (!all.defined()) return {{"parts", all}, {"logits.grad", at::Tensor()}};
  if (all.requires_grad()) all.sum().backward();
  return {{"parts", all.detach()}, {"logits.grad", logits.grad()}};
}

/// Micro-batches of several sizes that come back in a different order; first through a middle stage, then through the
/// last one. Results: outputs, gradients, how many were live when, how often the stages were computed. With recompute:
/// how many bytes are kept between forward and backward in addition to the input.
TensorMap stage_call(Communicator&, const CaseInputs& inputs) {
  const bool recompute = inputs.integer("recompute") != 0;
  const at::Tensor w1 = inputs.tensor("weight.first").clone().requires_grad_();
  const at::Tensor w2 = inputs.tensor("weight.second").clone().requires_grad_();
  std::int64_t num_calls = 0, num_attached = 0;
  const StageFunction middle = [&](const at::Tensor& x) {
    ++num_calls;
    return at::linear(at::linear(x, w1).tanh(), w2).tanh();
  };
  const StageFunction last = [&](const at::Tensor& x) { return middle(x).square().sum() / 7; };
  TensorMap results;
  for (const bool is_last : {false, true}) {
    LiveMicroBatches live(recompute);
    for (const at::Tensor& step : inputs.tensor("input.steps").unbind()) {
      const auto i = step[0].item<int>();
      const std::string name = fmt::format("{}{}", is_last ? "last" : "middle", i);
      if (step[1].item<bool>()) {
        const at::Tensor x = inputs.tensor(fmt::format("input.x{}", i)).clone();
        const at::Tensor output = live.forward(i, x, is_last ? last : middle);
        num_attached += output.defined() && output.requires_grad();
        results[name + ".output"] = output.defined() ? output.detach() : output;
      } else {
        const at::Tensor grad = is_last ? at::Tensor() : inputs.tensor(fmt::format("input.output_grad{}", i));
        results[name + ".input.grad"] = live.backward(i, grad);
      }
      results[name + (step[1].item<bool>() ? ".live_after_forward" : ".live_after_backward")] =
          make_count(static_cast<std::int64_t>(live.size()));
    }
  }
  results["num_calls"] = make_count(num_calls);
  results["num_outputs_with_a_graph"] = make_count(num_attached);
  results["first.grad"] = w1.grad();
  results["second.grad"] = w2.grad();
  if (!recompute) return results;
  LiveMicroBatches live(true);
  const at::Tensor many = inputs.tensor("input.many").clone();
  const PeakMemory memory(many.device());
  live.forward(0, many, middle);
  const std::int64_t beyond_input = memory.held_bytes() - static_cast<std::int64_t>(many.nbytes());
  results["bytes_held_beyond_input"] = make_count(std::max<std::int64_t>(0, beyond_input));
  return results;
}

/// Stages in 1F1B, one after the other. Results: the weights that each micro-batch got, forward and backward, how often
/// these were the same tensors, and the largest numbers of versions kept.
TensorMap weight_versions_call(Communicator&, const CaseInputs& inputs) {
  const at::Tensor& wanted = inputs.tensor("input.versions");
  const at::Tensor& stages = inputs.tensor("input.stages");
  const std::int64_t num_stages = wanted.size(0), num_micro_batches = wanted.size(1);
  const at::Tensor forward = at::full(wanted.sizes(), -1, at::kLong), backward = forward.clone();
  const at::Tensor num_same = at::zeros({num_stages}, at::kLong), during_forward = num_same.clone(),
                   after_backward = num_same.clone();
  const auto version = [](std::int64_t number) { return Parameters{{{make_count(number)}}}; };
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    const auto num_in_flight = stages[stage][0].item<std::int64_t>(),
               per_update = stages[stage][1].item<std::int64_t>();
    WeightVersions versions(version(0));
    std::vector<at::Tensor> given;
    std::int64_t newest = 0;
    const auto note_kept = [&](const at::Tensor& most) {
      most[stage].clamp_min_(static_cast<std::int64_t>(versions.num_kept()));
    };
    const auto go_forward = [&](std::int64_t i) {
      given.push_back(versions.start(i, wanted[stage][i].item<std::int64_t>()).layers[0][0]);
      forward[stage][i] = given.back()[0];
    };
    const auto go_backward = [&](std::int64_t i) {
      const at::Tensor stashed = versions.of(i).layers[0][0];
      backward[stage][i] = stashed[0];
      num_same[stage] += stashed.is_same(given[static_cast<std::size_t>(i)]);
      versions.finish(i);
      note_kept(after_backward);
      if ((i + 1) % per_update == 0) versions.add(version(++newest));
    };
    for (std::int64_t i = 0; i < num_micro_batches + num_in_flight - 1; ++i) {
      if (i < num_micro_batches) {
        go_forward(i);
        note_kept(during_forward);
      }
      std::int64_t next = i - (num_in_flight - 1);
      // The last two change places: no order of backward passes is promised.
      if (num_in_flight > 2 && next >= num_micro_batches - 2) next = 2 * num_micro_batches - 3 - next;
      if (next >= 0) go_backward(next);
    }
  }
  return {{"forward", forward},
          {"backward", backward},
          {"num_same", num_same},
          {"most_during_forward", during_forward},
          {"most_after_backward", after_backward}};
}

/// Of a schedule's versions for any stage, those at [p - 1, i]; or at [m - 1, i].
template <typename VersionOf>
TaskCall same_on_all_stages(VersionOf find_version) {
  return [=](Communicator&, const CaseInputs& inputs) {
    const auto on_stage = [&](std::int64_t micro_batch, int, int p) { return find_version(micro_batch, p); };
    return TensorMap{{"versions", version_table(inputs, on_stage).select(1, 0).contiguous()}};
  };
}

}  // namespace

CallTable part_calls() {
  return {{"optC.split_layers", split_call},
          {"optC.micro_batches", cut_call},
          {"optC.micro_batch_loss", loss_call},
          {"optC.stage", stage_call},
          {"optC.recompute", stage_call},
          {"optC.weight_versions", weight_versions_call},
          {"optC.pipedream",
           [](Communicator&, const CaseInputs& inputs) {
             return TensorMap{{"versions", version_table(inputs, pipedream_version)}};
           }},
          {"optC.vertical_sync", same_on_all_stages(vertical_sync_version)},
          {"optC.pipedream_2bw", same_on_all_stages(pipedream_2bw_version)}};
}

}  // namespace lab::optc
