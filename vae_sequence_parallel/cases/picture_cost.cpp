#include "vae_sequence_parallel/cases/picture_cost.h"

#include <algorithm>
#include <numeric>

namespace lab::vae {
namespace {

/// The rank that has a column; columns outside the picture belong to the rank at that edge.
std::size_t find_owner(std::int64_t column, const std::vector<std::int64_t>& widths) {
  const std::int64_t total = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  column = std::clamp(column, std::int64_t{0}, total - 1);
  std::size_t rank = 0;
  while (column >= widths[rank]) column -= widths[rank++];
  return rank;
}

/// Computed column by column, independently of conv_columns().
struct Halos {
  explicit Halos(std::size_t size) : columns(size, std::vector<std::int64_t>(size)), out_widths(size) {}
  std::vector<std::vector<std::int64_t>> columns;  ///< [from][to]
  std::vector<std::int64_t> out_widths;
};

Halos find_halos(const std::vector<std::int64_t>& widths, const Conv2dOptions& options) {
  Halos halos(widths.size());
  const std::int64_t total = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  const std::int64_t num_outputs = (total + 2 * options.padding - options.kernel) / options.stride + 1;
  std::vector<std::vector<bool>> needs(widths.size(), std::vector<bool>(static_cast<std::size_t>(total)));
  for (std::int64_t out = 0; out < num_outputs; ++out) {
    const std::int64_t begin = out * options.stride - options.padding;
    const std::size_t maker = find_owner(begin + options.kernel / 2, widths);
    ++halos.out_widths[maker];
    for (std::int64_t column = begin; column < begin + options.kernel; ++column) {
      if (column >= 0 && column < total) needs[maker][static_cast<std::size_t>(column)] = true;
    }
  }
  for (std::size_t to = 0; to < widths.size(); ++to) {
    for (std::int64_t column = 0; column < total; ++column) {
      const std::size_t from = find_owner(column, widths);
      if (from != to && needs[to][static_cast<std::size_t>(column)]) ++halos.columns[from][to];
    }
  }
  return halos;
}

void spend(LedgerEntry& entry, std::int64_t messages, std::int64_t values_sent, std::int64_t values_received,
           std::int64_t value_bytes) {
  entry.calls += 1;
  entry.messages += static_cast<std::uint64_t>(messages);
  entry.bytes_sent += static_cast<std::uint64_t>(values_sent * value_bytes);
  entry.bytes_received += static_cast<std::uint64_t>(values_received * value_bytes);
}

constexpr std::int64_t kDouble = sizeof(double);

/// The current layer needs and may hold this much, next to what is kept around it.
void hold(PictureCost& x, std::int64_t least_bytes, std::int64_t most_bytes) {
  const std::int64_t kept_bytes = x.kept_values * x.value_bytes;
  x.least_held = std::max(x.least_held, kept_bytes + least_bytes);
  x.most_held = std::max(x.most_held, kept_bytes + most_bytes);
}

/// The scores of `own` queries with `all` keys, and as many sums of values; the softmax in between.
void attend(PictureCost& x, std::int64_t heads, std::int64_t own, std::int64_t all, std::int64_t head_channels) {
  x.product_flops += 4 * x.batch * heads * own * all * head_channels;
  x.num_values += x.batch * heads * own * (all + head_channels);
}

}  // namespace

std::int64_t PictureCost::total_width() const {
  return std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
}

std::int64_t PictureCost::values(std::int64_t channels, std::int64_t more) const {
  return batch * channels * height * (own_width() + more);
}

CostBound make_bound(const LedgerEntry& spent, const std::string& operation) {
  CostBound bound;
  bound.operation = operation;
  bound.max_calls = spent.calls;
  bound.max_bytes_sent = spent.bytes_sent;
  bound.min_bytes_received = spent.bytes_received;
  return bound;
}

std::vector<CostBound> make_bounds(const PictureCost& cost, const std::string& task,
                                   const std::vector<CostBound>& of_call) {
  std::vector<CostBound> bounds;
  for (const char* operation : {"broadcast", "reduce_scatter", "all_reduce"}) {
    const bool named = std::any_of(of_call.begin(), of_call.end(),
                                   [&](const CostBound& bound) { return bound.operation == operation; });
    if (!named) bounds.push_back({operation, 0});
  }
  bounds.push_back(make_bound(cost.all_gather, "all_gather"));
  bounds.push_back(make_bound(cost.all_to_all, "all_to_all"));
  CostBound messages = make_bound(cost.messages, task);
  messages.max_calls = CostBound::kAny;
  messages.max_messages = cost.messages.messages;
  bounds.push_back(messages);
  bounds.insert(bounds.end(), of_call.begin(), of_call.end());
  return bounds;
}

std::int64_t least_work(const PictureCost& cost) {
  constexpr std::int64_t kOfNorm = 6;
  const std::int64_t forward = cost.product_flops > 0 ? cost.product_flops : kOfNorm * cost.num_values;
  return forward * (cost.with_gradient ? 3 : 1);
}

std::int64_t most_work(const PictureCost& cost, std::int64_t per_value) {
  return (cost.product_flops + cost.product_flops / 4 + cost.border_flops) * (cost.with_gradient ? 3 : 1) +
         per_value * (cost.with_gradient ? 2 : 1) * cost.num_values;
}

PictureCost in_one_process(PictureCost cost) {
  cost.widths = {cost.total_width()};
  cost.rank = 0;
  return cost;
}

PictureCost Conv2dCost::forward(PictureCost x) const {
  const Halos halos = find_halos(x.widths, options);
  const auto self = static_cast<std::size_t>(x.rank);
  const std::int64_t column_values = x.batch * options.in_channels * x.height;
  for (std::size_t peer = 0; peer < x.widths.size(); ++peer) {
    const std::int64_t there = halos.columns[self][peer], here = halos.columns[peer][self];
    spend(x.messages, there > 0, there * column_values, here * column_values, x.value_bytes);
    if (x.with_gradient) spend(x.messages, here > 0, here * column_values, there * column_values, x.value_bytes);
  }
  const std::int64_t own = x.values(options.in_channels);
  const std::int64_t with_halo = x.values(options.in_channels, options.kernel + options.padding);
  x.height = (x.height + 2 * options.padding - options.kernel) / options.stride + 1;
  x.widths = halos.out_widths;
  const std::int64_t column_outputs = x.batch * options.out_channels * x.height;
  const std::int64_t column_flops = 2 * column_outputs * options.kernel * options.kernel * options.in_channels;
  x.product_flops += column_flops * x.own_width();
  x.border_flops += column_flops * options.kernel;
  x.num_values += column_outputs * (x.own_width() + options.kernel);
  // oneDNN's blocks have up to 16 channels.
  const auto in_blocks = [](std::int64_t channels) { return (channels + 15) / 16 * 16; };
  const std::int64_t window = options.kernel * options.kernel;
  const std::int64_t of_kernel = window * in_blocks(options.in_channels) * in_blocks(options.out_channels);
  const std::int64_t out = x.values(options.out_channels), more_out = x.values(options.out_channels, options.kernel);
  const bool by_onednn = x.value_bytes == sizeof(float) && at::hasMKLDNN() && at::globalContext().userEnabledMkldnn();
  const std::int64_t unfolded = by_onednn ? 0 : window * x.values(options.in_channels, options.kernel);
  const std::int64_t of_library = x.value_bytes * (of_kernel + unfolded);
  constexpr std::int64_t kBuffers = 1 << 16;
  hold(x, x.value_bytes * (own + out) + of_library,
       x.value_bytes * (own + with_halo + more_out + std::max(with_halo, more_out)) + of_library + kBuffers);
  return x;
}

PictureCost GroupNormCost::forward(PictureCost x) const {
  const auto gather = [&](std::int64_t num_values) {
    const std::int64_t values = (x.size() - 1) * num_values * x.batch * groups;
    spend(x.all_gather, 0, values, values, sizeof(double));
  };
  gather(3);
  if (x.with_gradient) gather(2);
  x.num_values += x.values(channels) + x.batch * groups * x.size();
  const std::int64_t of_statistics = x.batch * (3 * groups * x.size() + 16 * channels);
  const std::int64_t bytes = x.value_bytes * x.values(channels);
  hold(x, 2 * bytes, 12 * bytes + kDouble * of_statistics);
  return x;
}

PictureCost with_ulysses(PictureCost x, std::int64_t heads, std::int64_t head_channels) {
  const std::int64_t position_values = x.batch * heads / x.size() * head_channels;
  const std::int64_t own = x.height * x.widths[static_cast<std::size_t>(x.rank)];
  const std::int64_t others = x.height * x.total_width() - own;
  const std::int64_t own_to_all = (x.size() - 1) * own * position_values, others_to_own = others * position_values;
  // q, k and v, then the result; backward, the gradient of the result, then those of q, k and v.
  spend(x.all_to_all, 0, 3 * own_to_all, 3 * others_to_own, x.value_bytes);
  spend(x.all_to_all, 0, others_to_own, own_to_all, x.value_bytes);
  if (x.with_gradient) {
    spend(x.all_to_all, 0, own_to_all, others_to_own, x.value_bytes);
    spend(x.all_to_all, 0, 3 * others_to_own, 3 * own_to_all, x.value_bytes);
  }
  const std::int64_t all = x.height * x.total_width();
  attend(x, heads / x.size(), all, all, head_channels);
  const std::int64_t of_own_heads = x.batch * heads / x.size() * all * head_channels;
  const std::int64_t of_own_positions = x.values(heads * head_channels);
  const std::int64_t scores = x.batch * heads / x.size() * all * all;
  const std::int64_t least = 4 * x.value_bytes * of_own_positions + kDouble * scores;
  hold(x, least, 9 * x.value_bytes * (of_own_positions + of_own_heads));  // while they are exchanged
  hold(x, least, 6 * x.value_bytes * (of_own_positions + of_own_heads) + kDouble * (4 * of_own_heads + 3 * scores));
  return x;
}

PictureCost with_ring(PictureCost x, std::int64_t heads, std::int64_t head_channels) {
  attend(x, heads, x.height * x.own_width(), x.height * x.total_width(), head_channels);
  const std::int64_t own = x.height * x.own_width(),
                     longest = x.height * *std::max_element(x.widths.begin(), x.widths.end());
  const std::int64_t vectors = 8 * (own + longest) * head_channels, numbers = 8 * own, scores = own * longest;
  hold(x, x.batch * heads * (4 * x.value_bytes * own * head_channels + kDouble * scores),
       kDouble * x.batch * heads * (numbers + (vectors + 3 * scores) * (x.with_gradient ? 2 : 1)));
  if (x.size() == 1) return x;
  const std::int64_t position_values = 2 * x.batch * heads * head_channels;  // a key and a value
  const auto choose_positions = [&](std::int64_t rank) {
    return x.height * x.widths[static_cast<std::size_t>(rank % x.size())];
  };
  const std::int64_t all = x.height * x.total_width();
  // A rank never sends its successor's own block: that of rank + 1, or of rank - 1 in a ring in the other direction.
  const std::int64_t kept = std::min(choose_positions(x.rank + 1), choose_positions(x.rank + x.size() - 1));
  for (int pass = 0; pass < (x.with_gradient ? 2 : 1); ++pass)
    spend(x.messages, x.size() - 1, (all - kept) * position_values, (all - choose_positions(x.rank)) * position_values,
          x.value_bytes);
  if (x.with_gradient) spend(x.messages, x.size(), all * position_values, all * position_values, x.value_bytes);
  return x;
}

PictureCost AttnBlockCost::forward(PictureCost x) const {
  const std::int64_t kept_before = x.kept_values, one = x.values(channels);
  x.kept_values += one;  // x, for the sum
  x = norm.forward(std::move(x));
  x.kept_values += 3 * one;  // its norm; queries and keys
  x = v.forward(k.forward(q.forward(std::move(x))));
  const std::int64_t head_channels = channels / num_heads;
  x = num_heads % x.size() == 0 ? with_ulysses(std::move(x), num_heads, head_channels)
                                : with_ring(std::move(x), num_heads, head_channels);
  x = proj_out.forward(std::move(x));
  x.kept_values = kept_before;
  return x;
}

PictureCost ResnetBlockCost::forward(PictureCost x) const {
  const std::int64_t kept_before = x.kept_values;
  x.kept_values += x.values(std::max(conv1.options.in_channels, conv1.options.out_channels));  // x, for the sum
  x = conv2.forward(norm2.forward(conv1.forward(norm1.forward(std::move(x)))));
  if (nin_shortcut) x = nin_shortcut->forward(std::move(x));
  x.kept_values = kept_before;
  return x;
}

PictureCost UpsampleCost::forward(PictureCost x) const {
  x.height *= 2;
  for (std::int64_t& width : x.widths) width *= 2;
  return conv.forward(std::move(x));
}

PictureCost DecoderCost::forward(PictureCost x) const {
  x = mid.forward(conv_in.forward(std::move(x)));
  for (auto level = up.rbegin(); level != up.rend(); ++level) {
    for (const ResnetBlockCost& block : level->block) x = block.forward(std::move(x));
    if (level->upsample) x = level->upsample->forward(std::move(x));
  }
  return conv_out.forward(norm_out.forward(std::move(x)));
}

}  // namespace lab::vae
