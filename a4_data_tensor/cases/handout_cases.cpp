#include "a4_data_tensor/cases/bounds.h"
#include "a4_data_tensor/cases/cases.h"
#include "common/api/partition.h"
#include "common/tensor/exact_data.h"

namespace lab::a4 {
namespace {

StepOptions options_at(const SizesFor& sizes_for, const CasePlace& place) {
  StepOptions options = sizes_for(place.size).step;
  options.seed = place.seed;
  return options;
}

CaseInputs handout_inputs(const SizesFor& sizes_for, const CasePlace& place) {
  const StepOptions options = options_at(sizes_for, place);
  const Batch batch = create_batch(options);
  CaseInputs inputs;
  inputs.seed = place.seed;
  inputs.tensors = {
      {"input.inputs", batch.inputs}, {"input.targets", batch.targets}, {"weight.W", initial_weight(options)}};
  inputs.numbers = {{"global_batch_size", static_cast<double>(options.global_batch_size)},
                    {"input_dim", static_cast<double>(options.input_dim)},
                    {"output_dim", static_cast<double>(options.output_dim)},
                    {"learning_rate", options.learning_rate},
                    {"accumulation_steps", static_cast<double>(sizes_for(place.size).accumulation_steps)}};
  return inputs;
}

Case handout_case(const SizesFor& sizes_for, const std::string& task, const std::string& name) {
  Case result;
  result.task = task;
  result.name = name;
  result.prefix = name;
  result.inputs = [sizes_for](const CasePlace& place) { return handout_inputs(sizes_for, place); };
  result.expected = [sizes_for](const CasePlace& place) {
    return TensorMap{{"W", updated_by_hand(options_at(sizes_for, place))}};
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

/// This weight after a step on these rows of the batch alone.
at::Tensor updated_by_rows(const StepOptions& options, const Slice& rows, const at::Tensor& weight) {
  const Batch batch = create_batch(options);
  const at::Tensor inputs = batch.inputs.narrow(0, rows.begin, rows.size);
  const at::Tensor error = at::matmul(inputs, weight) - batch.targets.narrow(0, rows.begin, rows.size);
  const double scale = 2.0 / static_cast<double>(rows.size * options.output_dim);
  return weight - options.learning_rate * scale * at::matmul(inputs.t(), error);
}

/// The first part of the batch used in place of every part.
KnownMistake first_rows_everywhere(const SizesFor& sizes_for, const std::string& message,
                                   const std::function<std::int64_t(const CasePlace&)>& num_parts) {
  return {"first_slice_everywhere", message, [sizes_for, num_parts](const CasePlace& place) {
            const StepOptions options = options_at(sizes_for, place);
            const Slice first = even_slice(options.global_batch_size, num_parts(place), 0);
            return TensorMap{{"W", updated_by_rows(options, first, initial_weight(options))}};
          }};
}

KnownMistake cleared_in_loop(const SizesFor& sizes_for) {
  return {"cleared_in_loop",
          "only the last micro-batch counts: the gradients are cleared before each one's backward pass",
          [sizes_for](const CasePlace& place) {
            StepOptions options = options_at(sizes_for, place);
            const std::int64_t steps = sizes_for(place.size).accumulation_steps;
            options.learning_rate /= static_cast<double>(steps);  // each micro-batch's loss is divided by their number
            const Slice last = even_slice(options.global_batch_size, steps, steps - 1);
            return TensorMap{{"W", updated_by_rows(options, last, initial_weight(options))}};
          }};
}

KnownMistake updated_in_loop(const SizesFor& sizes_for) {
  return {"updated_in_loop",
          "the weight is updated after each micro-batch, so the next one's gradient is that of another weight: update "
          "once, "
          "after the loop",
          [sizes_for](const CasePlace& place) {
            StepOptions options = options_at(sizes_for, place);
            const std::int64_t steps = sizes_for(place.size).accumulation_steps;
            options.learning_rate /= static_cast<double>(steps);
            at::Tensor weight = initial_weight(options);
            for (std::int64_t i = 0; i < steps; ++i)
              weight = updated_by_rows(options, even_slice(options.global_batch_size, steps, i), weight);
            return TensorMap{{"W", weight}};
          }};
}

}  // namespace

at::Tensor updated_by_hand(const StepOptions& options) {
  return updated_by_rows(options, {0, options.global_batch_size}, initial_weight(options));
}

std::vector<Case> handout_cases(const LabSizes& sizes) {
  return handout_cases_for([sizes](int) { return sizes; });
}

std::vector<Case> handout_cases_for(const SizesFor& sizes_for) {
  std::vector<Case> cases = {handout_case(sizes_for, "a4.single_step", "Baseline"),
                             handout_case(sizes_for, "a4.accumulation", "Accumulation"),
                             handout_case(sizes_for, "a4.data_parallel", "DataParallel"),
                             handout_case(sizes_for, "a4.column_parallel", "FullColumnParallel")};
  // The first two run on one rank, which reads everything.
  cases[0].only_rank_zero = cases[1].only_rank_zero = true;
  cases[0].prefix = cases[1].prefix = "";
  cases[0].expected = [sizes_for](const CasePlace& place) {
    const StepOptions options = options_at(sizes_for, place);
    return TensorMap{{"initial", initial_weight(options)}, {"updated", updated_by_hand(options)}};
  };
  cases[1].known_mistakes = {
      first_rows_everywhere(
          sizes_for, "only the first micro-batch counts: every iteration takes its rows instead of the next ones",
          [sizes_for](const CasePlace& place) { return sizes_for(place.size).accumulation_steps; }),
      cleared_in_loop(sizes_for), updated_in_loop(sizes_for)};

  Case &data = cases[2], &column = cases[3];
  data.keep_own_part = keep_rows_of_batch;
  data.skip_reason = if_not_divided(sizes_for, &StepOptions::global_batch_size);
  data.bounds = data_parallel_traffic(sizes_for);
  data.work = data_parallel_work(sizes_for);
  data.memory = data_parallel_memory(sizes_for);
  data.known_mistakes = {first_rows_everywhere(
      sizes_for, "only the first rank's rows of the batch count: every rank takes those instead of its own",
      [](const CasePlace& place) { return place.size; })};
  column.keep_own_part = keep_columns_of_weight;
  column.skip_reason = if_not_divided(sizes_for, &StepOptions::output_dim);
  column.bounds = column_step_traffic(sizes_for);
  column.work = column_step_work(sizes_for);
  column.memory = column_step_memory(sizes_for);
  // Ranks that update by different sums drift apart.
  data.same_on_all_ranks = column.same_on_all_ranks = {"W"};
  return cases;
}

}  // namespace lab::a4
