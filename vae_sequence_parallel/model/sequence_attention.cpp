#include "vae_sequence_parallel/sequence_attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::vae {

void check_sequence_shard(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const std::vector<std::int64_t>& lengths, int rank, int size, const char* where) {
  const auto refuse = [&](const std::string& message) {
    throw ContractError(fmt::format("{} on rank {} of {}: {}", where, rank, size, message));
  };
  if (lengths.size() != static_cast<std::size_t>(size) || *std::min_element(lengths.begin(), lengths.end()) < 0)
    refuse(fmt::format("expected one length per rank, got {}", fmt::join(lengths, " ")));
  const std::int64_t length = lengths[static_cast<std::size_t>(rank)];
  if (q.dim() != 4 || q.size(1) < 1 || q.size(2) != length || q.size(3) < 1)
    refuse(fmt::format("expected q [batch, heads, {}, channels of a head], got {}", length, describe(q)));
  for (const auto& [name, tensor] : {std::pair<const char*, const at::Tensor&>{"k", k}, {"v", v}}) {
    if (tensor.sizes() != q.sizes() || tensor.scalar_type() != q.scalar_type())
      refuse(fmt::format("expected q and {} alike, got {} and {}", name, describe(q), describe(tensor)));
  }
}

}  // namespace lab::vae
