#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/point_to_point.h"

// What is refused on every rank before anything is sent. All throw ContractError: what, rank, expected, got.
namespace lab::a9 {

/// src_rank is one of the ranks.
void require_rank(const char* what, int src_rank, const PointToPoint& p2p);

/// The tensor has a dim 0.
void require_rows(const char* what, const at::Tensor& tensor, const PointToPoint& p2p);

/// `dim` as 0 to dim()-1; it may count from the end.
std::int64_t require_dim(const char* what, const at::Tensor& tensor, std::int64_t dim, const PointToPoint& p2p);

/// Elements of each of P equal parts of dimension `dim`.
std::int64_t require_divides(const char* what, const at::Tensor& tensor, std::int64_t dim, const PointToPoint& p2p);

/// Ends a collective whose choose_...() has named an algorithm that is not one of the known ones.
[[noreturn]] void refuse_algorithm(const char* choose, const std::string& name, const std::vector<std::string>& known);

}  // namespace lab::a9
