#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/api/point_to_point.h"

// Argument checks, made before anything is sent. All throw a ContractError with what, rank, expected, got.
namespace lab::a9 {

/// Requires that src_rank is one of the ranks.
void require_rank(const char* what, int src_rank, const PointToPoint& p2p);

/// Requires that the tensor has a dim 0.
void require_rows(const char* what, const at::Tensor& tensor, const PointToPoint& p2p);

/// Returns `dim` as 0 to dim()-1; a negative `dim` counts from the end.
std::int64_t require_dim(const char* what, const at::Tensor& tensor, std::int64_t dim, const PointToPoint& p2p);

/// Returns the length of each of P equal parts of dimension `dim`.
std::int64_t require_divides(const char* what, const at::Tensor& tensor, std::int64_t dim, const PointToPoint& p2p);

/// For a collective whose choose_...() returned a name that is not one of the known algorithms.
[[noreturn]] void refuse_algorithm(const char* choose, const std::string& name, const std::vector<std::string>& known);

}  // namespace lab::a9
