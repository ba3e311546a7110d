#include "a4_data_tensor/cases/cases.h"
#include "a4_data_tensor/cases/work_bounds.h"
#include "common/tensor/batch.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/partition.h"

namespace lab::a4 {
namespace {

StepOptions seeded(const StepOptions& step, const CasePlace& place) {
  StepOptions options = step;
  options.seed = place.seed;
  return options;
}

CaseInputs handout_inputs(const LabSizes& sizes, const CasePlace& place) {
  const StepOptions options = seeded(sizes.step, place);
  const Batch batch = create_batch(options);
  CaseInputs inputs;
  inputs.seed = place.seed;
  inputs.tensors = {
      {"input.inputs", batch.inputs}, {"input.targets", batch.targets}, {"weight.W", initial_weight(options)}};
  inputs.numbers = {{"global_batch_size", static_cast<double>(options.global_batch_size)},
                    {"input_dim", static_cast<double>(options.input_dim)},
                    {"output_dim", static_cast<double>(options.output_dim)},
                    {"learning_rate", options.learning_rate},
                    {"accumulation_steps", static_cast<double>(sizes.accumulation_steps)}};
  return inputs;
}

Case handout_case(const LabSizes& sizes, const std::string& task, const std::string& name) {
  Case result;
  result.task = task;
  result.name = name;
  result.prefix = name;
  result.inputs = [sizes](const CasePlace& place) { return handout_inputs(sizes, place); };
  result.expected = [sizes](const CasePlace& place) {
    return TensorMap{{"W", updated_by_hand(seeded(sizes.step, place))}};
  };
  return result;
}

/// A judged rank is sent only its own rows of the batch. Every rank starts from the whole weight.
void keep_rows_of_batch(const CasePlace& place, TensorMap& inputs) {
  for (const char* name : {"input.inputs", "input.targets"}) {
    at::Tensor& batch = inputs.at(name);
    batch = only_part(batch, 0, uneven_slice(batch.size(0), place.size, place.rank));
  }
}

/// A judged rank is sent only its own columns of the weight. Every rank reads the whole batch: its inputs for these
/// columns, its targets for the loss, which each rank computes from the gathered output.
void keep_columns_of_weight(const CasePlace& place, TensorMap& inputs) {
  at::Tensor& weight = inputs.at("weight.W");
  weight = only_part(weight, 1, uneven_slice(weight.size(1), place.size, place.rank));
}

/// The weight after a step on these rows of the batch alone.
at::Tensor updated_by_rows(const StepOptions& options, const Slice& rows) {
  const at::Tensor weight = initial_weight(options);
  const Batch batch = create_batch(options);
  const at::Tensor inputs = batch.inputs.narrow(0, rows.begin, rows.size);
  const at::Tensor error = at::matmul(inputs, weight) - batch.targets.narrow(0, rows.begin, rows.size);
  const double scale = 2.0 / static_cast<double>(rows.size * options.output_dim);
  return weight - options.learning_rate * scale * at::matmul(inputs.t(), error);
}

/// The first part of the batch used in place of every part.
KnownMistake first_rows_everywhere(const LabSizes& sizes, const std::string& message,
                                   const std::function<std::int64_t(const CasePlace&)>& num_parts) {
  return {"first_slice_everywhere", message, [sizes, num_parts](const CasePlace& place) {
            const StepOptions options = seeded(sizes.step, place);
            const Slice first = even_slice(options.global_batch_size, num_parts(place), 0);
            return TensorMap{{"W", updated_by_rows(options, first)}};
          }};
}

}  // namespace

at::Tensor updated_by_hand(const StepOptions& options) {
  return updated_by_rows(options, {0, options.global_batch_size});
}

std::vector<Case> handout_cases(const LabSizes& sizes) {
  std::vector<Case> cases = {handout_case(sizes, "a4.single_step", "Baseline"),
                             handout_case(sizes, "a4.accumulation", "Accumulation"),
                             handout_case(sizes, "a4.data_parallel", "DataParallel"),
                             handout_case(sizes, "a4.column_parallel", "FullColumnParallel")};
  cases[0].only_rank_zero = cases[1].only_rank_zero = true;
  cases[0].prefix = cases[1].prefix = "";
  cases[0].expected = [sizes](const CasePlace& place) {
    const StepOptions options = seeded(sizes.step, place);
    return TensorMap{{"initial", initial_weight(options)}, {"updated", updated_by_hand(options)}};
  };
  // The first two run on one rank, which reads everything.
  cases[2].keep_own_part = keep_rows_of_batch;
  cases[3].keep_own_part = keep_columns_of_weight;
  cases[2].work = data_parallel_work(sizes);
  cases[3].work = column_step_work(sizes);
  cases[1].known_mistakes = {first_rows_everywhere(
      sizes, "only the first micro-batch counts: every iteration takes its rows instead of the next ones",
      [sizes](const CasePlace&) { return sizes.accumulation_steps; })};
  cases[2].known_mistakes = {first_rows_everywhere(
      sizes, "only the first rank's rows of the batch count: every rank takes those instead of its own",
      [](const CasePlace& place) { return place.size; })};
  return cases;
}

}  // namespace lab::a4
