#include "a4_data_tensor/cases/bounds.h"

#include <algorithm>

#include "common/comm/messages/model_time.h"

namespace lab::a4 {
namespace {

// Operations per element of a loss with its gradient, and of an update of a weight, by LibTorch's operators.
constexpr std::int64_t kOfLoss = 6, kOfUpdate = 2;
// Written out, either takes up to this many operators.
constexpr std::int64_t kPerElement = 12;

/// What a rank may compute of products that all ranks share: its part, and three fifths more, as for a gradient that is
/// not asked for. Each of two ranks that computes everything does twice its part.
std::int64_t own_products(std::int64_t products, const CasePlace& place) {
  return share_of_rank(products + 3 * products / 5, place);
}

}  // namespace

std::function<ShareBound(const CasePlace&)> data_parallel_work(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t outputs = step.global_batch_size * step.output_dim;
    const std::int64_t weights = step.input_dim * step.output_dim;
    return ShareBound{
        products + kOfLoss * outputs + kOfUpdate * weights,
        own_products(products, place) + share_of_rank(kPerElement * outputs, place) + kPerElement * weights};
  };
}

std::function<ShareBound(const CasePlace&)> accumulation_work(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t weights = sizes.step.input_dim * sizes.step.output_dim;
    const std::int64_t outputs = sizes.step.global_batch_size * sizes.step.output_dim;
    const std::int64_t products = 4 * sizes.step.global_batch_size * weights;
    return ShareBound{products + kOfLoss * outputs + kOfUpdate * weights,
                      own_products(products, {0, 1, place.seed}) + kPerElement * outputs +
                          kPerElement * sizes.accumulation_steps * weights};
  };
}

std::function<ShareBound(const CasePlace&)> column_step_work(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t outputs = step.global_batch_size * step.output_dim;
    const std::int64_t weights = step.input_dim * step.output_dim;
    return ShareBound{
        products + kOfLoss * outputs + kOfUpdate * weights,
        own_products(products, place) + kPerElement * outputs + share_of_rank(kPerElement * weights, place)};
  };
}

std::function<ShareBound(const CasePlace&)> layer_work(const SizesFor& sizes_for, std::int64_t num_products) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t in = sizes.step.input_dim, out = sizes.step.output_dim, batch = sizes.layer_batch;
    const std::int64_t products = 2 * num_products * batch * in * out;
    const std::int64_t others = (4 + place.size) * batch * (in + out) + share_of_rank(2 * in * out, place);
    return ShareBound{products, own_products(products, place) + others};
  };
}

namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(float));

}  // namespace

std::function<ShareBound(const CasePlace&)> accumulation_memory(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t rows = sizes.step.global_batch_size, in = sizes.step.input_dim, out = sizes.step.output_dim;
    const std::int64_t given = rows * (in + out), activations = (2 * in + 6 * out) * rows;
    return ShareBound{kBytes * (given + 5 * in * out + activations),
                      kBytes * (given + 5 * in * out + 2 * activations / 5)};  // all losses may go back at once
  };
}

std::function<ShareBound(const CasePlace&)> data_parallel_memory(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t rows = step.global_batch_size, in = step.input_dim, out = step.output_dim;
    const std::int64_t given = rows * (in + out), activations = (2 * in + 6 * out) * rows;
    return ShareBound{kBytes * (given + 5 * in * out + activations),
                      kBytes * (given + (5 + 2 * place.size) * in * out + share_of_rank(activations, place))};
  };
}

std::function<ShareBound(const CasePlace&)> column_step_memory(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t rows = step.global_batch_size, in = step.input_dim, out = step.output_dim;
    const std::int64_t others = rows * (in + out) + (2 * in + 8 * out) * rows;
    return ShareBound{kBytes * (others + 5 * in * out),
                      kBytes * (others + 3 * in * out + share_of_rank(4 * in * out, place))};
  };
}

std::function<ShareBound(const CasePlace&)> layer_memory(const SizesFor& sizes_for, std::int64_t num_weights) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t weights = 4 * num_weights * sizes.step.input_dim * sizes.step.output_dim;
    const std::int64_t activations = sizes.layer_batch * (sizes.step.input_dim + sizes.step.output_dim);
    return ShareBound{kBytes * (weights + 8 * activations),
                      kBytes * (share_of_rank(weights, place) + (8 + 2 * place.size) * activations)};
  };
}

namespace {

/// Of one rank, in bytes.
struct Traffic {
  std::uint64_t least_received = 0, most_sent = 0;
};

Traffic operator+(const Traffic& one, const Traffic& other) {
  return {one.least_received + other.least_received, one.most_sent + other.most_sent};
}

Traffic if_wanted(const Traffic& traffic) {
  return {0, traffic.most_sent};
}

/// Rounded up, so that the ranks have equal parts of it.
std::uint64_t whole_bytes(std::int64_t num_values, std::uint64_t num_ranks) {
  const auto values = static_cast<std::uint64_t>(num_values);
  return (values + num_ranks - 1) / num_ranks * num_ranks * sizeof(float);
}

Traffic all_reduce_traffic(std::int64_t num_values, int num_ranks) {
  const auto ranks = static_cast<std::uint64_t>(num_ranks);
  if (num_ranks == 1) return {};
  return {static_cast<std::uint64_t>(num_values) * sizeof(float),
          2 * whole_bytes(num_values, ranks) * (ranks - 1) / ranks};
}

Traffic compute_sum(std::int64_t num_values, int num_ranks) {
  const Traffic once = all_reduce_traffic(num_values, num_ranks);
  const std::uint64_t gathered =
      static_cast<std::uint64_t>(num_values * (num_ranks - 1)) * static_cast<std::uint64_t>(sizeof(float));
  return {once.least_received, std::max(2 * once.most_sent, gathered)};
}

Traffic gather_traffic(std::int64_t num_values_of_part, int num_ranks) {
  const std::uint64_t of_others = static_cast<std::uint64_t>(num_values_of_part * (num_ranks - 1)) * sizeof(float);
  return {of_others, 2 * of_others};
}

/// With at most `num_calls` calls of each collective that can be half of an all-reduce.
std::vector<CostBound> make_bounds(const Traffic& traffic, std::uint64_t num_calls) {
  CostBound all;  // stands for every operation that is not forbidden
  all.max_bytes_sent = traffic.most_sent;
  all.min_bytes_received = traffic.least_received;
  return {{"broadcast", 0},          {"all_to_all", 0},         all,
          {"all_reduce", num_calls}, {"all_gather", num_calls}, {"reduce_scatter", num_calls}};
}

CostBounds one_call_each(const Shapes& shapes, Traffic (*bound_traffic)(std::int64_t num_values, int num_ranks)) {
  return [=](const CasePlace& place) {
    Traffic traffic;
    for (const std::vector<std::int64_t>& shape : shapes)
      traffic = traffic + bound_traffic(c10::multiply_integers(shape), place.size);
    return make_bounds(traffic, shapes.size());
  };
}

}  // namespace

CostBounds sum_bounds(const Shapes& shapes) {
  return one_call_each(shapes, compute_sum);
}

CostBounds gather_bounds(const Shapes& shapes_of_parts) {
  return one_call_each(shapes_of_parts, gather_traffic);
}

CostBounds all_reduce_bounds(const Shapes& shapes) {
  return one_call_each(shapes, all_reduce_traffic);
}

CostBounds data_parallel_traffic(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t weights = step.input_dim * step.output_dim;
    std::vector<CostBound> bounds =
        make_bounds(compute_sum(weights, place.size) + if_wanted(compute_sum(1, place.size)), 2);
    // The room for another way to sum is none for a second sum.
    const Traffic once = all_reduce_traffic(weights, place.size) + all_reduce_traffic(1, place.size);
    for (CostBound& bound : bounds) {
      if (bound.operation == "all_reduce") bound.max_bytes_sent = once.most_sent;
    }
    return bounds;
  };
}

CostBounds column_step_traffic(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t own_columns = step.output_dim / place.size;
    return make_bounds(gather_traffic(step.input_dim * own_columns, place.size) +
                           if_wanted(gather_traffic(step.global_batch_size * own_columns, place.size)) +
                           if_wanted(compute_sum(step.global_batch_size * step.input_dim, place.size)) +
                           if_wanted(compute_sum(1, place.size)),
                       4);
  };
}

CostBounds column_layer_traffic(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    return make_bounds(gather_traffic(sizes.layer_batch * sizes.step.output_dim / place.size, place.size) +
                           compute_sum(sizes.layer_batch * sizes.step.input_dim, place.size),
                       2);
  };
}

CostBounds row_layer_traffic(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    return make_bounds(all_reduce_traffic(sizes.layer_batch * sizes.step.output_dim, place.size), 1);
  };
}

CostBounds pair_traffic(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t num_values = sizes.layer_batch * sizes.step.input_dim;
    return make_bounds(all_reduce_traffic(num_values, place.size) + compute_sum(num_values, place.size), 2);
  };
}

std::function<TimeBound(int size, std::uint64_t seed)> time_of_own_part(const Case& bounded) {
  return [bounds = bounded.bounds, work = bounded.work](int size, std::uint64_t seed) {
    const CasePlace place{0, size, seed};
    const comm::ModelRates rates;
    std::int64_t bytes = 0, least_bytes = 0, rounds = 0;
    for (const CostBound& bound : bounds(place)) {
      if (bound.operation.empty()) {
        bytes = static_cast<std::int64_t>(bound.max_bytes_sent);
        least_bytes = static_cast<std::int64_t>(bound.min_bytes_received);
      }
      // A reduce_scatter and an all_gather have as many between them.
      if (bound.operation == "all_reduce") rounds = 2 * (size - 1) * static_cast<std::int64_t>(bound.max_calls);
    }
    const ShareBound flops = work(place);
    return TimeBound{share_of_rank(flops.of_one_process, place) * rates.ps_per_flop + least_bytes * rates.ps_per_byte,
                     flops.most * rates.ps_per_flop + bytes * rates.ps_per_byte +
                         rounds * (rates.latency_ps + 2 * rates.overhead_ps)};
  };
}

}  // namespace lab::a4
