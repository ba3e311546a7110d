#include <fmt/format.h>

#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/cases/comparison_trials.h"
#include "common/api/partition.h"
#include "common/tensor/exact_data.h"

namespace lab::a5 {
namespace {

constexpr int kMostStages = 8;
constexpr std::int64_t kMostLayers = 40;

Case exact_case(const std::string& task, const std::string& name) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.tolerance.rtol = result.tolerance.atol = 0;
  return result;
}

at::Tensor integers(const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong);
}

/// Rows of layers, global batch size, micro-batch size, stages, and whether they form a pipeline.
const std::vector<std::vector<std::int64_t>>& argument_rows() {
  static const std::vector<std::vector<std::int64_t>> rows = {
      {12, 16, 2, 4, 1},  {10, 16, 2, 4, 1},   {4, 16, 16, 4, 1}, {1, 1, 1, 1, 1},  {3, 16, 2, 4, 0},
      {12, 16, 3, 4, 0},  {12, 16, 0, 4, 0},   {12, 2, 4, 4, 0},  {12, 0, 2, 4, 0}, {0, 16, 2, 1, 0},
      {12, -16, 2, 4, 0}, {12, -16, -2, 4, 0}, {12, 16, -2, 4, 0}};
  return rows;
}

at::Tensor column_of_arguments(std::size_t begin, std::size_t end) {
  std::vector<at::Tensor> rows;
  for (const auto& row : argument_rows()) {
    const auto at_index = [&](std::size_t i) { return row.begin() + static_cast<std::ptrdiff_t>(i); };
    rows.push_back(integers({at_index(begin), at_index(end)}));
  }
  return at::stack(rows);
}

Case arguments_case() {
  Case result = exact_case("a5.check_arguments", "Arguments");
  result.only_rank_zero = true;
  result.inputs = [](const CasePlace&) {
    CaseInputs inputs;
    inputs.tensors["input.arguments"] = column_of_arguments(0, 4);
    return inputs;
  };
  result.expected = [](const CasePlace&) { return TensorMap{{"accepted", column_of_arguments(4, 5).squeeze(1)}}; };
  result.meaning = [](const CasePlace&, const std::string&, at::IntArrayRef index) {
    const std::vector<std::int64_t>& row = argument_rows().at(static_cast<std::size_t>(index[0]));
    return fmt::format(
        "{} layers on {} stages, batches of {} in micro-batches of {}; 1: they make a pipeline; -1: refused "
        "without both numbers",
        row[0], row[3], row[1], row[2]);
  };
  return result;
}

using LayersOfStage = std::function<Slice(std::int64_t layers, std::int64_t stages, std::int64_t stage)>;

/// The stage that has layer l of L layers on P stages: [P-1][L-1][l], -1 if there is no such layer.
at::Tensor owners(const LayersOfStage& choose_layers) {
  const at::Tensor owner = at::full({kMostStages, kMostLayers, kMostLayers}, -1, at::kLong);
  for (std::int64_t stages = 1; stages <= kMostStages; ++stages) {
    for (std::int64_t layers = 1; layers <= kMostLayers; ++layers) {
      for (std::int64_t stage = 0; stage < stages; ++stage) {
        const Slice slice = choose_layers(layers, stages, stage);
        owner[stages - 1][layers - 1].narrow(0, slice.begin, slice.size).fill_(stage);
      }
    }
  }
  return owner;
}

KnownMistake other_owners(const std::string& id, const std::string& message, const LayersOfStage& choose_layers) {
  return {id, message, [choose_layers](const CasePlace&) { return TensorMap{{"owner", owners(choose_layers)}}; }};
}

Case distribute_case() {
  Case result = exact_case("a5.distribute_layers", "DistributeLayers");
  result.only_rank_zero = true;
  result.inputs = [](const CasePlace&) {
    CaseInputs inputs;
    inputs.numbers = {{"most_layers", kMostLayers}, {"most_stages", kMostStages}};
    return inputs;
  };
  result.expected = [](const CasePlace&) {
    const at::Tensor owner = owners([](std::int64_t layers, std::int64_t stages, std::int64_t stage) {
      return uneven_slice(layers, stages, stage);
    });
    return TensorMap{{"owner", owner}, {"misplaced", at::zeros({1}, at::kLong)}};
  };
  result.meaning = [](const CasePlace&, const std::string& name, at::IntArrayRef index) -> std::string {
    if (name != "owner") return "layers that are on several stages";
    return fmt::format("the stage of layer {} of {}, on {} stages; -1: none", index[2], index[1] + 1, index[0] + 1);
  };
  result.known_mistakes = {
      other_owners(
          "rest_forgotten",
          "every stage has layers / stages layers, rounded down: the rest is on no stage (3 layers on 2 stages: "
          "layer 2)",
          [](std::int64_t layers, std::int64_t stages, std::int64_t stage) {
            return Slice{stage * (layers / stages), layers / stages};
          }),
      other_owners(
          "rest_on_last_stage",
          "the last stage has all of the rest: the first stages should have one layer more each (5 layers on 3 "
          "stages: 2, 2 and 1)",
          [](std::int64_t layers, std::int64_t stages, std::int64_t stage) {
            const std::int64_t each = layers / stages, begin = stage * each;
            return Slice{begin, stage + 1 < stages ? each : layers - begin};
          })};
  return result;
}

Case dataloader_case() {
  Case result = exact_case("a5.requires_dataloader", "DataLoader");
  result.only_rank_zero = true;
  result.inputs = [](const CasePlace&) {
    CaseInputs inputs;
    inputs.numbers = {{"most_stages", kMostStages}};
    return inputs;
  };
  result.expected = [](const CasePlace&) {
    const at::Tensor needs = at::zeros({kMostStages, kMostStages}, at::kLong);
    needs.select(1, 0).fill_(1);
    return TensorMap{{"needs", needs}};
  };
  result.meaning = [](const CasePlace&, const std::string&, at::IntArrayRef index) {
    return fmt::format("stage {} of {}; 1: it needs the data", index[1], index[0] + 1);
  };
  return result;
}

// The handout's type of numbers: all other cases have float32 or float64.
const std::vector<std::int64_t> kMessageShape = {2, 3, 5};
constexpr at::ScalarType kMessageType = at::kBFloat16;

at::Tensor get_message(const CasePlace& place, int rank, bool forward) {
  return exact_values_for_rank(kMessageShape, kMessageType, place.seed + (forward ? 0 : 1), rank);
}

Case communicate_case() {
  Case result = exact_case("a5.pipeline_communicate", "Communicate");
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.output", get_message(place, place.rank, true)},
                      {"input.input_grad", get_message(place, place.rank, false)}};
    return inputs;
  };
  result.expected = [](const CasePlace& place) {
    const bool first = place.rank == 0, last = place.rank == place.size - 1;
    const at::Tensor nothing = at::zeros(kMessageShape, kMessageType);
    return TensorMap{{"input", first ? nothing : get_message(place, place.rank - 1, true)},
                     {"output_grad", last ? nothing : get_message(place, place.rank + 1, false)},
                     // What is sent must not change.
                     {"output", get_message(place, place.rank, true)},
                     {"input_grad", get_message(place, place.rank, false)},
                     {"returned", integers({!first, !first, !last, !last, 0, 0})}};
  };
  result.meaning = [](const CasePlace&, const std::string& name, at::IntArrayRef index) -> std::string {
    static const std::vector<std::string> of_returned = {
        "kRecvForward returned a tensor", "it requires a gradient",         "kRecvBackward returned a tensor",
        "it requires a gradient",         "kSendForward returned a tensor", "kSendBackward returned a tensor"};
    return name == "returned" ? of_returned.at(static_cast<std::size_t>(index[0])) : "";
  };
  result.bounds = [](const CasePlace& place) {
    const auto sends = static_cast<std::uint64_t>((place.rank != 0) + (place.rank != place.size - 1));
    CostBound bound;
    bound.operation = "a5.pipeline_communicate";
    bound.max_messages = bound.min_messages = sends;
    bound.max_bytes_sent = sends * 2 * 3 * 5 * c10::elementSize(kMessageType);
    return std::vector<CostBound>{bound};
  };
  return result;
}

/// One verdict of a comparison: of which trial, and the right one.
struct JudgedVerdict {
  std::string what;
  std::int64_t right;
};

/// A comparison's verdicts on trials of one kind.
template <typename JudgedTrial>
Case verdicts_case(const std::string& task, const std::string& name,
                   std::vector<JudgedTrial> (*make_trials)(std::uint64_t seed),
                   std::vector<JudgedVerdict> (*list_verdicts)(const JudgedTrial&)) {
  const auto all_verdicts = [make_trials, list_verdicts](std::uint64_t seed) {
    std::vector<JudgedVerdict> all;
    for (const JudgedTrial& judged : make_trials(seed)) {
      for (const JudgedVerdict& verdict : list_verdicts(judged)) all.push_back(verdict);
    }
    return all;
  };
  Case result = exact_case(task, name);
  result.only_rank_zero = true;
  result.inputs = [make_trials](const CasePlace& place) {
    std::vector<decltype(JudgedTrial::trial)> trials;
    for (const JudgedTrial& judged : make_trials(place.seed)) trials.push_back(judged.trial);
    return inputs_of_trials(trials);
  };
  result.expected = [all_verdicts](const CasePlace& place) {
    std::vector<std::int64_t> verdicts;
    for (const JudgedVerdict& verdict : all_verdicts(place.seed)) verdicts.push_back(verdict.right);
    return TensorMap{{"verdicts", integers(verdicts)}};
  };
  result.meaning = [all_verdicts](const CasePlace& place, const std::string&, at::IntArrayRef index) {
    const JudgedVerdict verdict = all_verdicts(place.seed).at(static_cast<std::size_t>(index[0]));
    return verdict.what + (verdict.right == -2 ? "; -2: ContractError" : "; 1: they match");
  };
  return result;
}

Case outputs_case() {
  return verdicts_case<JudgedOutputs>("a5.compare_outputs", "CompareOutputs", outputs_trials,
                                      [](const JudgedOutputs& judged) {
                                        return std::vector<JudgedVerdict>{{judged.what, judged.right_verdict}};
                                      });
}

Case gradients_case() {
  return verdicts_case<JudgedGradients>("a5.compare_gradients", "CompareGradients", gradients_trials,
                                        [](const JudgedGradients& judged) {
                                          std::vector<JudgedVerdict> verdicts;
                                          for (const auto& [name, right] : judged.right_verdicts)
                                            verdicts.push_back({judged.what + ": " + name, right});
                                          return verdicts;
                                        });
}

}  // namespace

std::vector<Case> part_cases() {
  std::vector<Case> cases = {arguments_case()};
  for (const Case& baseline : baseline_cases()) cases.push_back(baseline);
  for (const Case& part : {distribute_case(), dataloader_case(), communicate_case()}) cases.push_back(part);
  return cases;
}

std::vector<Case> comparison_cases() {
  return {outputs_case(), gradients_case()};
}

}  // namespace lab::a5
