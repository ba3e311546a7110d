#include "a9_collectives/cases/case_builders.h"

#include <limits>

#include "common/checks/once_per_world.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"

namespace lab::a9 {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Tensors from which the results follow that all ranks are expected to return.
OncePerWorld<Tensors> once(const std::function<Tensors(const CasePlace&)>& make) {
  return OncePerWorld<Tensors>([make](int size, std::uint64_t seed) { return make({0, size, seed}); }, 1);
}

at::Tensor sum(const Tensors& all) {
  at::Tensor sum = all.front().clone();
  // The data are integers, whose sums are exact in any order.
  for (std::size_t rank = 1; rank < all.size(); ++rank) sum.add_(all[rank]);
  return sum;
}

at::Tensor own_chunk(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place) {
  const std::int64_t length = tensor.size(dim) / place.size;
  return tensor.narrow(dim, place.rank * length, length);
}

Case tensor_case(const std::string& task, const std::string& name, const Input& input) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.tolerance = {0, 0};
  result.inputs = [input](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", input.of(place, place.rank)}};
    return inputs;
  };
  return result;
}

/// Adds a number to the case's inputs.
Case with(Case test_case, const std::string& name, const std::function<double(const CasePlace&)>& value) {
  const auto before = test_case.inputs;
  test_case.inputs = [before, name, value](const CasePlace& place) {
    CaseInputs inputs = before(place);
    inputs.numbers[name] = value(place);
    return inputs;
  };
  return test_case;
}

/// Requires the task's messages to deliver at least `least_bytes`, and no rank to send more than the most wasteful of
/// the usual ways: gathering everyone's `whole_bytes` by recursive doubling where P is not a power of two, in which a
/// rank sends up to P-1 of them, and then all P to the rank that it stands for. An algorithm has a `limit` of its own.
/// What a rank computes is not bounded: to gather all tensors and add them up is a right all-reduce.
Case received(Case test_case, const std::function<std::uint64_t(const CasePlace&)>& least_bytes,
              const std::function<std::uint64_t(const CasePlace&)>& whole_bytes, const Limit& limit) {
  const std::string task = test_case.task;
  test_case.bounds = [task, least_bytes, whole_bytes, limit](const CasePlace& place) {
    CostBound bound;
    bound.operation = task;
    bound.min_bytes_received = place.size == 1 ? 0 : least_bytes(place);
    bound.max_bytes_sent = place.size == 1 ? 0 : static_cast<std::uint64_t>(2 * place.size - 1) * whole_bytes(place);
    if (limit) limit(place, bound);
    return std::vector<CostBound>{bound};
  };
  return test_case;
}

}  // namespace

std::vector<at::Tensor> of_each_rank(int first_rank, int num_ranks, const std::function<at::Tensor(int rank)>& of) {
  std::vector<at::Tensor> ranks;
  for (int i = 0; i < num_ranks; ++i) ranks.push_back(of(first_rank + i));
  return ranks;
}

Input exact(const std::vector<std::int64_t>& shape, at::ScalarType dtype, std::uint64_t offset) {
  const auto list_sizes = [shape](const CasePlace& place) {
    std::vector<std::int64_t> sizes = shape;
    for (std::int64_t& size : sizes) size = size < 0 ? -size * place.size : size;
    return sizes;
  };
  return {[=](const CasePlace& place, int first_rank, int num_ranks) {
            return exact_values_of_ranks(list_sizes(place), dtype, place.seed + offset, first_rank, num_ranks);
          },
          [=](const CasePlace& place) {
            return static_cast<std::uint64_t>(c10::multiply_integers(list_sizes(place))) * c10::elementSize(dtype);
          },
          c10::elementSize(dtype)};
}

Input long_row(const std::function<std::int64_t(int size)>& num_elements, std::uint64_t offset) {
  return {[=](const CasePlace& place, int first_rank, int num_ranks) {
            constexpr std::int64_t kTile = 10007;
            const std::int64_t length = num_elements(place.size);
            std::vector<at::Tensor> rows =
                exact_values_of_ranks({kTile}, at::kFloat, place.seed + offset, first_rank, num_ranks);
            for (at::Tensor& row : rows) row = row.repeat({length / kTile + 1}).narrow(0, 0, length).contiguous();
            return rows;
          },
          [=](const CasePlace& place) {
            return static_cast<std::uint64_t>(num_elements(place.size)) * c10::elementSize(at::kFloat);
          }};
}

Input beyond_double(const std::vector<std::int64_t>& shape, std::uint64_t offset) {
  Input input = exact(shape, at::kLong, offset);
  const auto small = input.of_ranks;
  input.of_ranks = [small](const CasePlace& place, int first_rank, int num_ranks) {
    std::vector<at::Tensor> ranks = small(place, first_rank, num_ranks);
    for (at::Tensor& values : ranks) values = values + (std::int64_t{1} << 57) + first_rank++;
    return ranks;
  };
  return input;
}

Input rounded(const std::vector<std::int64_t>& shape, std::uint64_t offset) {
  return {[=](const CasePlace& place, int first_rank, int num_ranks) {
            return of_each_rank(first_rank, num_ranks, [&](int rank) {
              return seeded_randn(shape, derived_seed(place.seed, rank_seed(place.seed + offset, rank)));
            });
          },
          [=](const CasePlace&) {
            return static_cast<std::uint64_t>(c10::multiply_integers(shape)) * c10::elementSize(at::kFloat);
          }};
}

Case broadcast_case(const std::string& task, const std::string& name, const Input& input,
                    const std::function<int(int size)>& find_src_rank, const Limit& limit) {
  Case result = with(tensor_case(task, name, input), "src_rank", [find_src_rank](const CasePlace& place) {
    return static_cast<double>(find_src_rank(place.size));
  });
  // The previous contents on ranks other than the source must not show through.
  const auto before = result.inputs;
  result.inputs = [before, find_src_rank](const CasePlace& place) {
    CaseInputs inputs = before(place);
    if (place.rank != find_src_rank(place.size)) poison_(inputs.tensors.at("input.x"));
    return inputs;
  };
  result.expected = [input, find_src_rank](const CasePlace& place) {
    const at::Tensor sent = input.of(place, find_src_rank(place.size));
    return TensorMap{{"out", sent}, {"x", sent}};
  };
  return received(
      result,
      [input, find_src_rank](const CasePlace& place) {
        return place.rank == find_src_rank(place.size) ? 0 : input.bytes(place);
      },
      input.bytes, limit);
}

Case allreduce_case(const std::string& task, const std::string& name, const Input& input, const Limit& limit) {
  Case result = tensor_case(task, name, input);
  const auto sums = once([input](const CasePlace& place) { return Tensors{sum(input.of_all(place))}; });
  result.expected = [sums](const CasePlace& place) {
    const at::Tensor whole = sums.at(place)->front();
    return TensorMap{{"out", whole}, {"x", whole}};
  };
  // Who cuts a tensor into P equal parts may fill up the last of them.
  const auto whole_bytes = [input](const CasePlace& place) {
    const auto ranks = static_cast<std::uint64_t>(place.size);
    const std::uint64_t per_part = (input.bytes(place) / input.element_bytes + ranks - 1) / ranks;
    return per_part * ranks * input.element_bytes;
  };
  return received(result, input.bytes, whole_bytes, limit);
}

Case allgather_case(const std::string& task, const std::string& name, const Input& input, const Limit& limit) {
  Case result = tensor_case(task, name, input);
  const auto parts_and_whole = once([input](const CasePlace& place) {
    Tensors all = input.of_all(place);
    all.push_back(at::cat(all, 0));
    return all;
  });
  result.expected = [parts_and_whole](const CasePlace& place) {
    const auto all = parts_and_whole.at(place);
    return TensorMap{{"out", all->back()}, {"x", all->at(static_cast<std::size_t>(place.rank))}};
  };
  return received(
      result,
      [input](const CasePlace& place) { return static_cast<std::uint64_t>(place.size - 1) * input.bytes(place); },
      [input](const CasePlace& place) { return static_cast<std::uint64_t>(place.size) * input.bytes(place); }, limit);
}

Case reduce_scatter_case(const std::string& task, const std::string& name, const Input& input, const Limit& limit) {
  Case result = tensor_case(task, name, input);
  const auto inputs_and_sum = once([input](const CasePlace& place) {
    Tensors all = input.of_all(place);
    all.push_back(sum(all));
    return all;
  });
  result.expected = [inputs_and_sum](const CasePlace& place) {
    const auto all = inputs_and_sum.at(place);
    return TensorMap{{"out", own_chunk(all->back(), 0, place)}, {"x", all->at(static_cast<std::size_t>(place.rank))}};
  };
  return received(
      result, [input](const CasePlace& place) { return input.bytes(place) / static_cast<std::uint64_t>(place.size); },
      input.bytes, limit);
}

Case all_to_all_case(const std::string& task, const std::string& name, const Input& input, std::int64_t scatter_dim,
                     std::int64_t gather_dim, const Limit& limit) {
  Case result = tensor_case(task, name, input);
  result = with(result, "scatter_dim", [scatter_dim](const CasePlace&) { return static_cast<double>(scatter_dim); });
  result = with(result, "gather_dim", [gather_dim](const CasePlace&) { return static_cast<double>(gather_dim); });
  const auto inputs = once([input](const CasePlace& place) { return input.of_all(place); });
  result.expected = [inputs, scatter_dim, gather_dim](const CasePlace& place) {
    Tensors parts = *inputs.at(place);
    const at::Tensor own = parts[static_cast<std::size_t>(place.rank)];
    for (at::Tensor& part : parts) part = own_chunk(part, scatter_dim, place);
    return TensorMap{{"out", at::cat(parts, gather_dim)}, {"x", own}};
  };
  return received(
      result,
      [input](const CasePlace& place) {
        const std::uint64_t bytes = input.bytes(place);
        return bytes - bytes / static_cast<std::uint64_t>(place.size);
      },
      input.bytes, limit);
}

Case with_same_bits(const Case& test_case) {
  Case result = test_case;
  // The expected sum has its own order: each has at most P - 1 roundings of 2^-24.
  result.tolerance = {0, std::numeric_limits<double>::infinity(), 1e-5};
  result.same_on_all_ranks = {"out"};
  return result;
}

Case transposed(const Case& test_case) {
  return with(test_case, "transposed", [](const CasePlace&) { return 1.0; });
}

Case sliced(const Case& test_case) {
  return with(test_case, "sliced", [](const CasePlace&) { return 1.0; });
}

Case after_subgroup(const Case& test_case, const Case& group_case) {
  const auto in_group = [](const CasePlace& place) {
    return CasePlace{place.rank / 2, (place.size + 1) / 2, place.seed + 1};
  };
  Case result = with(test_case, "after_subgroup", [](const CasePlace&) { return 1.0; });
  result.name = result.prefix = test_case.name + "AfterSubgroup";
  result.inputs = [=, before = result.inputs](const CasePlace& place) {
    CaseInputs inputs = before(place);
    if (place.rank % 2 == 0) inputs.tensors["input.group.x"] = group_case.inputs(in_group(place)).tensor("input.x");
    return inputs;
  };
  result.expected = [=](const CasePlace& place) {
    TensorMap expected = test_case.expected(place);
    if (place.rank % 2 != 0) return expected;
    for (const auto& [name, tensor] : group_case.expected(in_group(place))) expected["group." + name] = tensor;
    return expected;
  };
  result.bounds = {};  // the other cases have them
  result.memory = {};
  result.time = {};
  return result;
}

int last_rank(int size) {
  return size - 1;
}

}  // namespace lab::a9
