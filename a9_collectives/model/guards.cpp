#include "a9_collectives/guards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/text.h"

namespace lab::a9 {

void require_rank(const char* what, int src_rank, const PointToPoint& p2p) {
  if (src_rank >= 0 && src_rank < p2p.size()) return;
  throw ContractError(
      fmt::format("{}, rank {}: expected a src_rank from 0 to {}, got {}", what, p2p.rank(), p2p.size() - 1, src_rank));
}

void require_rows(const char* what, const at::Tensor& tensor, const PointToPoint& p2p) {
  if (tensor.dim() >= 1) return;
  throw ContractError(
      fmt::format("{}, rank {}: expected a tensor of at least one dimension, got a scalar; hint: view it as [1]", what,
                  p2p.rank()));
}

std::int64_t require_dim(const char* what, const at::Tensor& tensor, std::int64_t dim, const PointToPoint& p2p) {
  if (dim >= -tensor.dim() && dim < tensor.dim()) return dim < 0 ? dim + tensor.dim() : dim;
  throw ContractError(fmt::format("{}, rank {}: expected a dimension from {} to {} of a tensor {}, got {}", what,
                                  p2p.rank(), -tensor.dim(), tensor.dim() - 1, shape_text(tensor.sizes()), dim));
}

std::int64_t require_divides(const char* what, const at::Tensor& tensor, std::int64_t dim, const PointToPoint& p2p) {
  if (tensor.size(dim) % p2p.size() == 0) return tensor.size(dim) / p2p.size();
  throw ContractError(fmt::format("{}, rank {}: expected dimension {} of {} to divide by {} ranks, got {}", what,
                                  p2p.rank(), dim, shape_text(tensor.sizes()), p2p.size(), tensor.size(dim)));
}

void refuse_algorithm(const char* choose, const std::string& name, const std::vector<std::string>& known) {
  throw ContractError(fmt::format("{} returned '{}': expected one of {}{}", choose, name, fmt::join(known, ", "),
                                  did_you_mean(name, known)));
}

}  // namespace lab::a9
