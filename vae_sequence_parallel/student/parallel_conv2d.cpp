#include "common/comm/autograd_facet.h"
#include "vae_sequence_parallel/conv_columns.h"
#include "vae_sequence_parallel/parallel_layers.h"

namespace lab::vae {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Columns `part` of a tensor that has the columns `all`. The order is that of channels in memory, so that a row of a
/// part is copied as one piece.
at::Tensor part_of(const at::Tensor& tensor, const Slice& all, const Slice& part) {
  return tensor.narrow(3, part.begin - all.begin, part.size).permute({0, 2, 3, 1});
}

at::Tensor empty_columns(const at::Tensor& like, std::int64_t width) {
  return at::empty({like.size(0), like.size(1), like.size(2), width}, like.options(), at::MemoryFormat::ChannelsLast);
}

/// The columns that this rank's output is made from, zeros included: in [B, C, H, own], out [B, C, H, needed].
class GatherColumns : public torch::autograd::Function<GatherColumns> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::vector<std::int64_t>& widths,
                            const Conv2dOptions& options, PointToPoint* p2p) {
    remember(context, p2p);
    context->saved_data["widths"] = widths;
    context->saved_data["window"] = std::vector<std::int64_t>{options.kernel, options.stride, options.padding};
    const std::vector<ConvColumns> columns = conv_columns(widths, options);
    const auto self = static_cast<std::size_t>(p2p->rank());
    // BEGIN SOLUTION vae.conv2d
    // STUB // TODO(vae.conv2d): a tensor of columns[self].needed: this rank's own columns from x, others' from the
    // STUB // ranks that own them (overlap() says which, of any rank, not only the next), zeros outside the picture.
    // STUB // Post all receives and sends, one for each peer that needs something, before the first wait.
    // STUB not_implemented("vae.conv2d", x, columns, self, part_of, empty_columns);
    const ConvColumns& mine = columns[self];
    const at::Tensor gathered = empty_columns(x, mine.needed.size);
    std::vector<Request> requests;
    for (std::size_t peer = 0; peer < columns.size(); ++peer) {
      const Slice from_peer = overlap(mine.needed, columns[peer].own);
      const Slice to_peer = overlap(mine.own, columns[peer].needed);
      const int rank = static_cast<int>(peer);
      if (peer != self && from_peer.size > 0)
        requests.push_back(p2p->irecv(part_of(gathered, mine.needed, from_peer), rank));
      if (peer != self && to_peer.size > 0) requests.push_back(p2p->isend(part_of(x, mine.own, to_peer), rank));
    }
    const Slice kept = overlap(mine.own, mine.needed);
    if (kept.size > 0) part_of(gathered, mine.needed, kept).copy_(part_of(x, mine.own, kept));
    const std::int64_t width = columns.back().own.end();
    const std::int64_t num_left = std::clamp(-mine.needed.begin, std::int64_t{0}, mine.needed.size);
    const std::int64_t num_right = std::clamp(mine.needed.end() - width, std::int64_t{0}, mine.needed.size);
    gathered.narrow(3, 0, num_left).zero_();
    gathered.narrow(3, mine.needed.size - num_right, num_right).zero_();
    for (Request& request : requests) request.wait();
    return gathered;
    // END SOLUTION vae.conv2d
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    PointToPoint& p2p = recall<PointToPoint>(context);
    const std::vector<std::int64_t> window = context->saved_data["window"].toIntVector();
    const std::vector<ConvColumns> columns =
        conv_columns(context->saved_data["widths"].toIntVector(), {0, 0, window[0], window[1], window[2]});
    const auto self = static_cast<std::size_t>(p2p.rank());
    // BEGIN SOLUTION vae.conv2d
    // STUB // TODO(vae.conv2d): the messages of forward() the other way: what came from a peer has its gradient sent
    // STUB // back, and what was sent to several peers has gradients from all of them, and this rank's own, to add up.
    // STUB // Four arguments: {grad, at::Tensor(), at::Tensor(), at::Tensor()}.
    // STUB not_implemented("vae.conv2d", grad_outputs, columns, self, p2p);
    const ConvColumns& mine = columns[self];
    const at::Tensor grad = empty_columns(grad_outputs[0], mine.own.size).zero_();
    std::vector<Request> sends, receives;
    std::vector<at::Tensor> targets;
    for (std::size_t peer = 0; peer < columns.size(); ++peer) {
      const Slice to_peer = overlap(mine.needed, columns[peer].own);
      const Slice from_peer = overlap(mine.own, columns[peer].needed);
      const int rank = static_cast<int>(peer);
      if (peer != self && to_peer.size > 0)
        sends.push_back(p2p.isend(part_of(grad_outputs[0], mine.needed, to_peer), rank));
      if (peer == self || from_peer.size == 0) continue;
      targets.push_back(part_of(grad, mine.own, from_peer));
      receives.push_back(p2p.irecv(at::empty(targets.back().sizes(), grad.options()), rank));
    }
    const Slice kept = overlap(mine.own, mine.needed);
    if (kept.size > 0) part_of(grad, mine.own, kept).copy_(part_of(grad_outputs[0], mine.needed, kept));
    for (std::size_t i = 0; i < receives.size(); ++i) targets[i] += receives[i].wait();
    for (Request& send : sends) send.wait();
    return {grad, at::Tensor(), at::Tensor(), at::Tensor()};
    // END SOLUTION vae.conv2d
  }
};

// BEGIN SOLUTION vae.conv2d_overlap
// STUB // TODO(vae.conv2d_overlap), a bonus: what convolves the inner columns while the halo travels fits here.
/// The output columns whose input this rank has; size 0: none.
Slice inner_columns(const ConvColumns& mine, const Conv2dOptions& options) {
  const std::int64_t first = mine.own.begin + options.padding, last = mine.own.end() + options.padding - options.kernel;
  const std::int64_t begin = (first + options.stride - 1) / options.stride;
  const std::int64_t end = last < 0 ? 0 : last / options.stride + 1;
  return overlap(mine.output, {begin, std::max(end - begin, std::int64_t{0})});
}

/// The output columns next to the inner ones, on one side, and their input: columns of this rank, zeros outside the
/// picture, and the halo.
struct Border {
  Slice needed;
  at::Tensor input;  ///< undefined: there are no such columns
};

Border border_of(const at::Tensor& x, const Slice& own, const Slice& output, const Conv2dOptions& options) {
  Border border;
  if (output.size == 0) return border;
  border.needed = {output.begin * options.stride - options.padding,
                   (output.size - 1) * options.stride + options.kernel};
  border.input = empty_columns(x, border.needed.size).zero_();
  const Slice kept = overlap(own, border.needed);
  if (kept.size > 0) part_of(border.input, border.needed, kept).copy_(part_of(x, own, kept));
  return border;
}

/// The convolution of this rank's columns, without gradients. Releases x when the inner columns are done: what is made
/// of them, once at first and once joined to the borders, is then all that is held.
at::Tensor overlapped(const Conv2d& conv, at::Tensor x, const std::vector<ConvColumns>& columns, const Slice& inner,
                      PointToPoint& p2p) {
  const Conv2dOptions& options = conv.options;
  const auto self = static_cast<std::size_t>(p2p.rank());
  const ConvColumns& mine = columns[self];
  const Border left = border_of(x, mine.own, {mine.output.begin, inner.begin - mine.output.begin}, options);
  const Border right = border_of(x, mine.own, {inner.end(), mine.output.end() - inner.end()}, options);
  std::vector<Request> requests;
  for (std::size_t peer = 0; peer < columns.size(); ++peer) {
    const Slice from_peer = overlap(mine.needed, columns[peer].own);
    const Slice to_peer = overlap(mine.own, columns[peer].needed);
    const int rank = static_cast<int>(peer);
    const Border& border = peer < self ? left : right;
    if (peer != self && from_peer.size > 0)
      requests.push_back(p2p.irecv(part_of(border.input, border.needed, from_peer), rank));
    if (peer != self && to_peer.size > 0) requests.push_back(p2p.isend(part_of(x, mine.own, to_peer), rank));
  }
  const auto convolved = [&](const at::Tensor& input) {
    return convolve(input, conv.weight, conv.bias, options.stride, {options.padding, 0});
  };
  const std::int64_t first = inner.begin * options.stride - options.padding - mine.own.begin;
  std::vector<at::Tensor> parts = {convolved(x.narrow(3, first, (inner.size - 1) * options.stride + options.kernel))};
  x = at::Tensor();
  for (Request& request : requests) request.wait();
  if (left.input.defined()) parts.insert(parts.begin(), convolved(left.input));
  if (right.input.defined()) parts.push_back(convolved(right.input));
  return parts.size() == 1 ? parts[0] : at::cat(parts, 3);
}
// END SOLUTION vae.conv2d_overlap

}  // namespace

WidthShard ParallelConv2d::forward(WidthShard x) const {
  check_shard(x, options.in_channels, p2p_->rank(), p2p_->size(), "ParallelConv2d");
  const std::vector<ConvColumns> columns = conv_columns(x.widths, options);
  const ConvColumns& mine = columns[static_cast<std::size_t>(p2p_->rank())];
  std::vector<std::int64_t> out_widths;
  for (const ConvColumns& each : columns) out_widths.push_back(each.output.size);
  // All columns are here.
  if (mine.own.size == x.total_width()) return {Conv2d::forward(x.columns), out_widths};
  const bool for_gradients =
      at::GradMode::is_enabled() && (x.columns.requires_grad() || weight.requires_grad() || bias.requires_grad());
  if (!for_gradients) {
    // BEGIN SOLUTION vae.conv2d_overlap
    // STUB // TODO(vae.conv2d_overlap), a bonus: post the halo's messages, convolve the inner columns, which need none
    // STUB // of it, while it travels, then those at the borders, and join them. Below, the halo is waited for first.
    const Slice inner = inner_columns(mine, options);
    // LibTorch copies the kernel for each of the three convolutions: too much where it is larger than the columns.
    if (options.kernel > 1 && inner.size > 0 && weight.numel() <= x.columns.numel())
      return {overlapped(*this, std::move(x.columns), columns, inner, *p2p_), out_widths};
    // END SOLUTION vae.conv2d_overlap
  }
  // BEGIN SOLUTION vae.conv2d
  // STUB // TODO(vae.conv2d): gather with GatherColumns::apply(), unless the kernel is so narrow that every rank needs
  // STUB // just what it has; then convolve() with zeros above and below only. Of a rank without output, convolve one
  // STUB // window of zeros next to what it has and keep no column of it: the graph must hold x and the parameters.
  // STUB not_implemented("vae.conv2d", columns, mine, out_widths);
  const bool all_local = options.kernel == 1 && options.stride == 1 && options.padding == 0;
  at::Tensor input = std::move(x.columns);
  if (!all_local) input = GatherColumns::apply(input, x.widths, options, p2p_);
  if (mine.output.size == 0) input = at::constant_pad_nd(input, {0, options.kernel});
  at::Tensor out = convolve(input, weight, bias, options.stride, {options.padding, 0});
  if (mine.output.size == 0) out = out.narrow(3, 0, 0);
  return {std::move(out), std::move(out_widths)};
  // END SOLUTION vae.conv2d
}

}  // namespace lab::vae
