#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/checks/case.h"

// Builds a case of each collective from its input: exact expected results, and bounds that require the result to have
// arrived by messages.
namespace lab::a9 {

/// Each rank's tensor: the same formula serves inputs and expected results.
struct Input {
  std::function<std::vector<at::Tensor>(const CasePlace&, int first_rank, int num_ranks)> of_ranks;
  std::function<std::uint64_t(const CasePlace&)> bytes;  ///< of each rank's tensor
  std::uint64_t element_bytes = sizeof(float);

  at::Tensor of(const CasePlace& place, int rank) const { return of_ranks(place, rank, 1).front(); }
  std::vector<at::Tensor> of_all(const CasePlace& place) const { return of_ranks(place, 0, place.size); }
};

/// As of_ranks, from what gives one rank's tensor.
std::vector<at::Tensor> of_each_rank(int first_rank, int num_ranks, const std::function<at::Tensor(int rank)>& of);

/// Integers whose sums are exact, different on each rank. A size below 0 stands for -size times the world size.
Input exact(const std::vector<std::int64_t>& shape, at::ScalarType dtype, std::uint64_t offset);

/// More than a million bytes of float32; few world sizes divide the number of elements.
constexpr std::int64_t kLongElements = (1 << 18) + 3;

/// A row of float32 integers, made faster than by exact() if it is long: the same 10007 of them over and over, a prime
/// number, so that parts of the row differ.
Input long_row(const std::function<std::int64_t(int size)>& num_elements, std::uint64_t offset);

/// Integers that float64 cannot represent exactly: sums computed in it lose their last digits.
Input beyond_double(const std::vector<std::int64_t>& shape, std::uint64_t offset);

/// Random numbers, whose sums are rounded.
Input rounded(const std::vector<std::int64_t>& shape, std::uint64_t offset);

/// Further bounds that an algorithm must keep.
using Limit = std::function<void(const CasePlace&, CostBound&)>;

Case broadcast_case(const std::string& task, const std::string& name, const Input& input,
                    const std::function<int(int size)>& find_src_rank, const Limit& limit = {});
Case allreduce_case(const std::string& task, const std::string& name, const Input& input, const Limit& limit = {});
Case allgather_case(const std::string& task, const std::string& name, const Input& input, const Limit& limit = {});
Case reduce_scatter_case(const std::string& task, const std::string& name, const Input& input, const Limit& limit = {});
Case all_to_all_case(const std::string& task, const std::string& name, const Input& input, std::int64_t scatter_dim,
                     std::int64_t gather_dim, const Limit& limit = {});

/// The case on rounded(): in which order numbers were added shows in the last bits of "out", and these must be the same
/// on all ranks. Any order is right.
Case with_same_bits(const Case& test_case);

/// The case on a transposed tensor, whose strides differ from a new one's.
Case transposed(const Case& test_case);

/// The case on a tensor in the middle of a larger storage.
Case sliced(const Case& test_case);

/// The case once more, after another one of its task among the ranks with even numbers alone, from the last of them.
Case after_subgroup(const Case& test_case, const Case& group_case);

int last_rank(int size);

}  // namespace lab::a9
