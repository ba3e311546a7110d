#include "a9_collectives/cases/transformer_bounds.h"

namespace lab::a9 {
namespace {

std::vector<CostBound> no_built_ins() {
  return {{"broadcast", 0},      {"all_reduce", 0}, {"all_gather", 0},
          {"reduce_scatter", 0}, {"all_to_all", 0}, {"barrier", 0}};
}

std::uint64_t size_of(const CasePlace& place) {
  return static_cast<std::uint64_t>(place.size);
}

/// Of a task's own messages, or of a built-in collective.
CostBound sent(const std::string& operation, std::uint64_t min_messages, std::uint64_t max_bytes_sent) {
  CostBound bound;
  bound.operation = operation;
  bound.min_messages = min_messages;
  bound.max_bytes_sent = max_bytes_sent;
  return bound;
}

std::uint64_t two_all_reduces(std::uint64_t bytes_of_x, std::uint64_t size) {
  return 2 * (size - 1) * bytes_of_x;
}

std::uint64_t four_all_to_alls(std::uint64_t bytes_of_x, std::uint64_t size) {
  const std::uint64_t chunk_bytes = bytes_of_x / size / size;
  return 4 * (size - 1) * chunk_bytes;
}

ShareBound work_of_blocks(const BlockSizes& sizes, std::int64_t num_blocks, const CasePlace& place) {
  const std::int64_t d = sizes.options.d_model, f = sizes.options.d_ff, heads = sizes.options.num_heads;
  const std::int64_t positions = sizes.batch * sizes.sequence;
  const std::int64_t pairs = sizes.batch * sizes.sequence * sizes.sequence;
  const std::int64_t products = num_blocks * (2 * positions * (4 * d * d + 2 * d * f) + 4 * pairs * d);
  const std::int64_t per_element = num_blocks * (24 * positions * d + 8 * heads * pairs + 3 * positions * f);
  const std::int64_t own_sums = num_blocks * 2 * (place.size - 1) * positions * d;
  return {products + per_element, products / place.size + per_element + own_sums};
}

}  // namespace

CostBounds no_communication(const std::string& task) {
  std::vector<CostBound> bounds = no_built_ins();
  bounds.push_back({task, 0});
  return on_every_rank(bounds);
}

CostBounds tensor_parallel_bounds(const std::string& task, std::uint64_t bytes_of_x, std::uint64_t num_passes) {
  return [=](const CasePlace& place) {
    const std::uint64_t bytes = num_passes * two_all_reduces(bytes_of_x, size_of(place));
    return std::vector<CostBound>{sent(task, 0, bytes), sent("all_gather", 0, bytes), {"all_reduce", 2 * num_passes}};
  };
}

CostBounds ulysses_bounds(const std::string& task, std::uint64_t bytes_of_x) {
  return [=](const CasePlace& place) {
    const std::uint64_t size = size_of(place);
    return std::vector<CostBound>{sent(task, 2 * (size - 1), four_all_to_alls(bytes_of_x, size)), {"all_to_all", 0}};
  };
}

CostBounds ulysses_gradient_bounds(const std::string& task) {
  return [=](const CasePlace& place) {
    return std::vector<CostBound>{sent(task, 4 * (size_of(place) - 1), CostBound::kAny), {"all_to_all", 0}};
  };
}

CostBounds design_bounds(const std::string& task, std::uint64_t bytes_of_x) {
  return [=](const CasePlace& place) {
    const std::uint64_t size = size_of(place);
    // An all-reduce takes at least one message, an all-to-all one to each peer.
    const std::uint64_t min_messages = size == 1 ? 0 : 2 + 2 * (size - 1);
    std::vector<CostBound> bounds = no_built_ins();
    bounds.push_back(sent(task, min_messages, two_all_reduces(bytes_of_x, size) + four_all_to_alls(bytes_of_x, size)));
    return bounds;
  };
}

std::function<ShareBound(const CasePlace&)> block_work(const BlockSizes& sizes, std::int64_t num_blocks) {
  return [=](const CasePlace& place) { return work_of_blocks(sizes, num_blocks, place); };
}

std::function<ShareBound(const CasePlace&)> block_and_gradient_work(const BlockSizes& sizes) {
  return [sizes](const CasePlace& place) {
    ShareBound bound = work_of_blocks(sizes, 3, place);
    const std::int64_t d = sizes.options.d_model, f = sizes.options.d_ff;
    bound.most += (place.size - 1) * (4 * d * d + 2 * d * f + 5 * d + f);
    return bound;
  };
}

}  // namespace lab::a9
