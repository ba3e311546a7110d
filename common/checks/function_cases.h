#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/checks/case.h"

// Cases of a differentiable function of one tensor that communicates, such as Megatron's f and g: one suite for all labs.
namespace lab {

/// What goes into such a function on each rank: small integers, whose sums are exact, or random numbers. `more` sets one
/// tensor of a case apart from the others.
struct FunctionData {
  std::vector<std::int64_t> shape;
  bool random = false;
  std::uint64_t offset = 0;  ///< of the seed
  at::ScalarType dtype = at::kFloat;

  at::Tensor of_rank(const CasePlace& place, std::uint64_t more, int rank) const;
  std::vector<at::Tensor> of_all(const CasePlace& place, std::uint64_t more) const;
  /// In float64, rounded once.
  at::Tensor sum(const CasePlace& place, std::uint64_t more) const;
  /// With a last dimension that is `times` as long.
  at::Tensor same_everywhere(const CasePlace& place, std::uint64_t more, std::int64_t times = 1) const;
};

/// What is given to the function on this rank, "x" and "grad_out", and what it makes of that, "out" and "x.grad".
using FunctionResults = std::function<TensorMap(const FunctionData&, const CasePlace&)>;

/// f and g of Megatron-LM, arXiv:1909.08053, section 3: identity and sum, in one pass each.
TensorMap broadcast_parallel_results(const FunctionData& data, const CasePlace& place);
TensorMap reduce_parallel_results(const FunctionData& data, const CasePlace& place);

struct FunctionUnderTest {
  std::string task, name;
  FunctionResults results;
  std::function<CostBounds(const std::vector<FunctionData>&)> bounds;  ///< of calls on each of these
};

/// The function on each of these, "first.x", "second.x" and so on, backward from all at the end; the names of the only
/// one have no such prefix. Neither x nor grad_out may be changed. `strided`: none of them is contiguous. Results must be
/// equal to the bit, but of random numbers.
Case function_case(const FunctionUnderTest& function, const std::string& suffix,
                   const std::vector<FunctionData>& all_data, bool strided = false);

}  // namespace lab
