#include <numeric>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/conv_columns.h"
#include "vae_sequence_parallel/moments.h"
#include "vae_sequence_parallel/parallel_layers.h"
#include "vae_sequence_parallel/tests/wrong_modules.h"

// Each mistake with convolutions, upsampling and norms that the README warns about, as a wrong solution, and the case
// that finds it.
namespace lab::vae {
namespace {

using testing::contains;

/// A convolution that takes the columns it needs from the whole picture and applies `change` to them.
struct WindowConv : Conv2d {
  /// All needed columns, and how many lie to the left and to the right of this rank's own.
  using Change = std::function<at::Tensor(const at::Tensor& needed, std::int64_t left, std::int64_t right)>;

  WindowConv(const Weights& weights, const Conv2dOptions& conv_options, Communicator& communicator, Change what)
      : Conv2d(weights, conv_options), comm(&communicator), change(std::move(what)) {}

  WidthShard forward(const WidthShard& x) const {
    const std::vector<ConvColumns> columns = conv_columns(x.widths, options);
    const ConvColumns& mine = columns[static_cast<std::size_t>(comm->rank())];
    const std::int64_t beyond = options.kernel + options.padding;
    const at::Tensor needed = at::constant_pad_nd(gathered(x, *comm), {beyond, beyond})
                                  .narrow(3, mine.needed.begin + beyond, mine.needed.size);
    const at::Tensor changed = change(needed, mine.own.begin - mine.needed.begin, mine.needed.end() - mine.own.end());
    WidthShard out = {at::conv2d(changed, weight, bias, options.stride, {options.padding, 0}), {}};
    for (const ConvColumns& each : columns) out.widths.push_back(each.output.size);
    return out;
  }

  Communicator* comm;
  Change change;
};

ModuleMaker window_conv(const WindowConv::Change& change) {
  return [change](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    return [module = WindowConv(weights, conv_options_of(inputs), comm, change)](const WidthShard& x) {
      return module.forward(x);
    };
  };
}

/// Needed columns in three parts.
at::Tensor joined(const at::Tensor& left, const at::Tensor& own, const at::Tensor& right) {
  return at::cat({left, own, right}, 3);
}

struct Parts {
  Parts(const at::Tensor& needed, std::int64_t num_left, std::int64_t num_right)
      : left(needed.narrow(3, 0, num_left)),
        own(needed.narrow(3, num_left, needed.size(3) - num_left - num_right)),
        right(needed.narrow(3, needed.size(3) - num_right, num_right)) {}
  at::Tensor left, own, right;
};

const WindowConv::Change kNothing = [](const at::Tensor& needed, std::int64_t, std::int64_t) { return needed; };

using ConvForward = std::function<WidthShard(const Conv2d&, const WidthShard&, Communicator&)>;

ModuleMaker conv_by(const ConvForward& forward) {
  return [forward](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    return [=, &comm, conv = Conv2d(weights, conv_options_of(inputs))](const WidthShard& x) {
      return forward(conv, x, comm);
    };
  };
}

TEST_CASE("right but for what it sends: the whole input gathered passes vae.conv2d, not vae.conv2d_halo") {
  for (const char* name : {"Conv2dUneven", "Conv2dKernel7", "Conv2dStride2", "Conv2dWidePadding", "Conv2d_64to64_k1"})
    CHECK(verdict(name, window_conv(kNothing)) == "passed");
  for (const char* name : {"Conv2dHalo", "Conv2dHaloKernel7", "Conv2dHaloStride2", "Conv2dHaloKernel1"})
    CHECK(verdict(name, window_conv(kNothing)) == "1 calls of all_to_all, expected at most 0");
  CHECK(symptom("Conv2dHalo", window_conv(kNothing)) == "gathers_everything");
  CHECK(verdict("Conv2dGradient", window_conv(kNothing)) == "1 calls of all_to_all, expected at most 0");
}

/// Sends the whole slice to every rank, which takes what it needs.
WidthShard by_messages(const Conv2d& conv, const WidthShard& x, Communicator& comm, int most_distance) {
  std::vector<at::Tensor> slices;
  std::vector<Request> requests;
  const at::Tensor own = x.columns.contiguous();
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::vector<std::int64_t> shape = own.sizes().vec();
    shape[3] = x.widths[static_cast<std::size_t>(rank)];
    slices.push_back(rank == comm.rank() ? own : at::zeros(shape, own.options()));
    if (rank == comm.rank() || std::abs(rank - comm.rank()) > most_distance) continue;
    requests.push_back(comm.point_to_point().irecv(slices.back(), rank));
    requests.push_back(comm.point_to_point().isend(own, rank));
  }
  for (Request& request : requests) request.wait();
  return own_share(conv.forward(at::cat(slices, 3)), x.widths, comm);
}

TEST_CASE("right but for what it sends and computes: whole slices by message, to all ranks or to the neighbours only") {
  for (const int distance : {3, 1}) {
    const ModuleMaker make = conv_by([distance](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
      return by_messages(conv, x, comm, distance);
    });
    CHECK(but_for_work(verdict("Conv2dUneven", make)));
    // 3 * 7 * 32 * 38 floats, where one column would do.
    CHECK(verdict("Conv2dHalo", make) == (distance == 3
                                              ? "3 messages sent of vae.conv2d_halo, expected at most 1"
                                              : "102144 bytes sent of vae.conv2d_halo, expected at most 2688"));
  }
}

/// Receives the halo into its place in a picture of all columns, 0 elsewhere, and convolves the columns that it needs.
WidthShard on_a_canvas(const Conv2d& conv, const WidthShard& x, Communicator& comm) {
  const std::vector<ConvColumns> columns = conv_columns(x.widths, conv.options);
  const auto self = static_cast<std::size_t>(comm.rank());
  const ConvColumns& mine = columns[self];
  const std::int64_t beyond = conv.options.padding;
  std::vector<std::int64_t> shape = x.columns.sizes().vec();
  shape[3] = x.total_width() + 2 * beyond;
  const at::Tensor canvas = at::zeros(shape, x.columns.options());
  const auto part = [&](const Slice& some) { return canvas.narrow(3, some.begin + beyond, some.size); };
  part(mine.own).copy_(x.columns);
  std::vector<Request> requests;
  for (std::size_t peer = 0; peer < columns.size(); ++peer) {
    const Slice from_peer = overlap(mine.needed, columns[peer].own), to_peer = overlap(mine.own, columns[peer].needed);
    if (peer == self) continue;
    const int rank = static_cast<int>(peer);
    if (from_peer.size > 0) requests.push_back(comm.point_to_point().irecv(part(from_peer), rank));
    if (to_peer.size > 0) requests.push_back(comm.point_to_point().isend(part(to_peer), rank));
  }
  for (Request& request : requests) request.wait();
  WidthShard out = {convolve(part(mine.needed), conv.weight, conv.bias, conv.options.stride, {beyond, 0}), {}};
  for (const ConvColumns& each : columns) out.widths.push_back(each.output.size);
  return out;
}

TEST_CASE("right but for what it holds: a picture of all columns, of which only the halo is filled in") {
  for (const char* name : {"Conv2dUneven", "Conv2dHaloKernel1"}) CHECK(verdict(name, conv_by(on_a_canvas)) == "passed");
  CHECK(contains(verdict("Conv2dHalo", conv_by(on_a_canvas)), " of one process's memory"));
}

TEST_CASE("right but for a sum that is the caller's business; a barrier moves nothing") {
  const auto with = [](const std::function<void(Collectives&)>& more) -> ModuleMaker {
    return [more](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
      return [=, &comm, conv = ParallelConv2d(weights, conv_options_of(inputs), comm)](WidthShard x) {
        more(comm.collectives());
        return conv.forward(std::move(x));
      };
    };
  };
  const ModuleMaker meets = with([](Collectives& collectives) { collectives.barrier(); });
  const ModuleMaker adds = with([](Collectives& collectives) { collectives.all_reduce(at::zeros({1})); });
  for (const char* name : {"Conv2dHalo", "Conv2dGradient"}) CHECK(verdict(name, meets) == "passed");
  CHECK(verdict("Conv2dGradient", adds) == "3 calls of all_reduce, expected at most 2");
  CHECK(verdict("Conv2dUneven", meets) == "passed");
}

/// How a convolution with a kernel of 3 goes about its messages.
struct HaloOrder {
  bool waits_first = false;    ///< before it convolves anything
  bool sends_first = false;    ///< posts them before the receives
  bool whole_at_once = false;  ///< convolves all columns, with zeros for the halo, and then those at the borders again
  bool one_by_one = false;     ///< takes the left halo, convolves the left border, and only then takes the right halo
};

WidthShard by_inner_columns(const Conv2d& conv, const WidthShard& x, Communicator& comm, const HaloOrder& order) {
  PointToPoint& p2p = comm.point_to_point();
  const int size = comm.size(), rank = comm.rank();
  const std::int64_t width = x.columns.size(3);
  std::vector<std::int64_t> shape = x.columns.sizes().vec();
  shape[3] = 1;
  const at::Tensor left = at::zeros(shape, x.columns.options()), right = at::zeros(shape, x.columns.options());
  std::vector<Request> sends, from_left, from_right;
  const auto send = [&] {
    if (rank > 0) sends.push_back(p2p.isend(x.columns.narrow(3, 0, 1).contiguous(), rank - 1));
    if (rank + 1 < size) sends.push_back(p2p.isend(x.columns.narrow(3, width - 1, 1).contiguous(), rank + 1));
  };
  if (order.sends_first) send();
  if (rank + 1 < size) from_right.push_back(p2p.irecv(right, rank + 1));
  if (rank > 0) from_left.push_back(p2p.irecv(left, rank - 1));
  if (!order.sends_first) send();
  const auto wait = [](std::vector<Request>& requests) {
    for (Request& request : requests) request.wait();
    requests.clear();
  };
  const auto convolved = [&](const at::Tensor& input, std::int64_t columns_around) {
    return convolve(input, conv.weight, conv.bias, 1, {1, columns_around});
  };
  if (order.waits_first)
    for (std::vector<Request>* requests : {&from_left, &from_right}) wait(*requests);
  at::Tensor inner = convolved(x.columns, order.whole_at_once ? 1 : 0);
  if (order.whole_at_once) inner = inner.narrow(3, 1, width - 2);
  wait(from_left);
  if (!order.one_by_one) wait(from_right);
  const at::Tensor at_left = convolved(at::cat({left, x.columns.narrow(3, 0, 2)}, 3), 0);
  wait(from_right);
  const at::Tensor at_right = convolved(at::cat({x.columns.narrow(3, width - 2, 2), right}, 3), 0);
  wait(sends);
  return {joined(at_left, inner, at_right), x.widths};
}

std::string overlap_verdict(const HaloOrder& order, int num_ranks) {
  const ModuleMaker make = conv_by([order](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
    return by_inner_columns(conv, x, comm, order);
  });
  return testing::verdict(all_cases(), "Conv2dOverlap", module_call(make), num_ranks);
}

TEST_CASE("right but for its time: the halo waited for before the inner columns are convolved") {
  HaloOrder hides, waits;
  waits.waits_first = true;
  for (const int num_ranks : {2, 3, 4, 8}) {
    CAPTURE(num_ranks);
    CHECK(contains(overlap_verdict(waits, num_ranks), " ms of model time, expected at most 0.0"));
    for (bool HaloOrder::*const differs :
         {&HaloOrder::sends_first, &HaloOrder::whole_at_once, &HaloOrder::one_by_one}) {
      HaloOrder other = hides;
      other.*differs = true;
      CHECK(overlap_verdict(other, num_ranks) == "passed");
    }
    CHECK(overlap_verdict(hides, num_ranks) == "passed");
  }
  CHECK(verdict("Conv2dOverlap", window_conv(kNothing)) == "1 calls of all_to_all, expected at most 0");
}

TEST_CASE("wrong: zeros at the borders of slices, no halo") {
  const ModuleMaker make = conv_by([](const Conv2d& conv, const WidthShard& x, Communicator&) {
    return WidthShard{conv.forward(x.columns), x.widths};
  });
  CHECK(verdict("Conv2dUneven", make) == "mismatch");
  CHECK(verdict("Conv2d_32to64_k3", make) == "mismatch");
  for (const char* name : {"Conv2dUneven", "Conv2d_32to64_k3"}) CHECK(symptom(name, make) == "borders_only");
  CHECK(verdict("Conv2d_64to64_k1", make) == "passed");
}

TEST_CASE("wrong: left and right halo exchanged") {
  CHECK(verdict("Conv2dUneven", window_conv([](const at::Tensor& needed, std::int64_t left, std::int64_t right) {
                  const Parts parts(needed, left, right);
                  return joined(parts.right, parts.own, parts.left);
                })) == "mismatch");
}

TEST_CASE("wrong: the halo's columns mirrored; one column each side hides it") {
  const ModuleMaker make = window_conv([](const at::Tensor& needed, std::int64_t left, std::int64_t right) {
    const Parts parts(needed, left, right);
    return joined(parts.left.flip({3}), parts.own, parts.right.flip({3}));
  });
  CHECK(verdict("Conv2dUneven", make) == "passed");
  CHECK(verdict("Conv2dKernel5", make) == "mismatch");
}

TEST_CASE("wrong: a halo from one side only") {
  CHECK(symptom("Conv2dUneven", window_conv([](const at::Tensor& needed, std::int64_t left, std::int64_t right) {
                  const Parts parts(needed, left, right);
                  return joined(parts.left, parts.own, at::zeros_like(parts.right));
                })) == "borders_only");
}

TEST_CASE("wrong: a halo from the next neighbours only, where it reaches beyond them") {
  const ModuleMaker make = conv_by(
      [](const Conv2d& conv, const WidthShard& x, Communicator& comm) { return by_messages(conv, x, comm, 1); });
  CHECK(but_for_work(verdict("Conv2dUneven", make)));
  CHECK(verdict("Conv2dKernel5", make) == "mismatch");
  CHECK(verdict("Conv2dKernel7", make) == "mismatch");
}

/// The whole picture padded with something other than zeros.
ModuleMaker with_edges(const std::function<at::Tensor(const at::Tensor&, std::int64_t)>& extended) {
  return conv_by([extended](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
    const std::int64_t padding = conv.options.padding;
    const at::Tensor out = at::conv2d(extended(gathered(x, comm), padding), conv.weight, conv.bias, 1, {padding, 0});
    return own_share(out, x.widths, comm);
  });
}

TEST_CASE("wrong: at the picture's edges the border's own column, or the other edge's, instead of zeros") {
  CHECK(but_for_work(verdict("Conv2dUneven", with_edges([](const at::Tensor& x, std::int64_t padding) {
                               return at::constant_pad_nd(x, {padding, padding});
                             }))));
  CHECK(verdict("Conv2dUneven", with_edges([](const at::Tensor& x, std::int64_t padding) {
                  return at::replication_pad2d(x, {padding, padding, 0, 0});
                })) == "mismatch");
  CHECK(verdict("Conv2dUneven", with_edges([](const at::Tensor& x, std::int64_t padding) {
                  return joined(x.narrow(3, x.size(3) - padding, padding), x, x.narrow(3, 0, padding));
                })) == "mismatch");
}

TEST_CASE("wrong: zeros next to the halo as well, so that there are extra output columns") {
  CHECK(contains(verdict("Conv2dUneven", conv_by([](const Conv2d& conv, const WidthShard& x, Communicator&) {
                           return WidthShard{conv.forward(at::constant_pad_nd(x.columns, {1, 1})), x.widths};
                         })),
                 "result 'out'"));
}

TEST_CASE("wrong: with stride 2 every rank begins at its own first column") {
  const ModuleMaker make = conv_by([](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
    const std::int64_t padding = conv.options.padding;
    const auto begin = std::accumulate(x.widths.begin(), x.widths.begin() + comm.rank(), std::int64_t{0});
    const std::int64_t num_outputs = (x.columns.size(3) + 1) / 2;
    const at::Tensor needed = at::constant_pad_nd(gathered(x, comm), {padding, 2 * padding})
                                  .narrow(3, begin, 2 * num_outputs - 1 + 2 * padding);
    WidthShard out = {at::conv2d(needed, conv.weight, conv.bias, 2, {padding, 0}), x.widths};
    for (std::int64_t& width : out.widths) width = (width + 1) / 2;
    return out;
  });
  // Widths 10 9 9 9: rank 2 begins at column 19.
  CHECK(contains(verdict("Conv2dStride2", make), "result 'out'"));
}

TEST_CASE("wrong: stride 1, and the result cut to size") {
  const ModuleMaker make = conv_by([](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
    const at::Tensor all = at::conv2d(gathered(x, comm), conv.weight, conv.bias, 1, conv.options.padding);
    std::vector<std::int64_t> widths;
    for (const ConvColumns& each : conv_columns(x.widths, conv.options)) widths.push_back(each.output.size);
    const std::int64_t width = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
    return own_share(all.narrow(2, 0, (all.size(2) + 1) / 2).narrow(3, 0, width), widths, comm);
  });
  CHECK(verdict("Conv2dStride2", make) == "mismatch");
}

TEST_CASE("wrong: two pictures, whatever comes") {
  const auto of_two = [](const ModuleMaker& make) -> ModuleMaker {
    return [make](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
      return [module = make(weights, inputs, comm)](WidthShard x) {
        x.columns = x.columns.narrow(0, 0, 2);
        return module(std::move(x));
      };
    };
  };
  const ModuleMaker conv = of_two(window_conv(kNothing));
  CHECK(verdict("Conv2dUnevenDouble", conv) == "passed");
  CHECK(contains(verdict("Conv2dUneven", conv), "result 'out'"));
  CHECK(contains(verdict("Conv2dStride2Kernel7", conv), "exceeds dimension size (1)"));
}

TEST_CASE("wrong: at a border the neighbour's gradient takes the place of the own one; outputs are right") {
  const ModuleMaker make = [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) {
    const auto change = [&comm](const at::Tensor& needed, std::int64_t left, std::int64_t right) {
      const Parts parts(needed, left, right);
      const std::int64_t at_left = comm.rank() == 0 ? 0 : 1, at_right = comm.rank() == comm.size() - 1 ? 0 : 1;
      const Parts own(parts.own, at_left, at_right);
      return joined(parts.left, joined(own.left.detach(), own.own, own.right.detach()), parts.right);
    };
    return window_conv(change)(weights, inputs, comm);
  };
  CHECK(verdict("Conv2dUneven", make) == "passed");
  CHECK(verdict("Conv2dGradient", make) == "mismatch");
  CHECK(symptom("Conv2dGradient", make) == "borders_only");
}

TEST_CASE("wrong: the halo's gradients stay where it was used; outputs are right") {
  const ModuleMaker make = window_conv([](const at::Tensor& needed, std::int64_t left, std::int64_t right) {
    const Parts parts(needed, left, right);
    return joined(parts.left.detach(), parts.own, parts.right.detach());
  });
  CHECK(verdict("Conv2dUneven", make) == "passed");
  CHECK(verdict("Conv2dGradient", make) == "mismatch");
  CHECK(verdict("Conv2dKernel7Gradient", make) == "mismatch");
}

TEST_CASE("wrong: the graph is cut where columns are joined; outputs are right") {
  const ModuleMaker make =
      window_conv([](const at::Tensor& needed, std::int64_t, std::int64_t) { return needed.detach(); });
  CHECK(verdict("Conv2dUneven", make) == "passed");
  CHECK(verdict("Conv2dGradient", make) == "mismatch");
}

TEST_CASE("wrong: a wrapper's level in the names of parameters") {
  CHECK(contains(verdict("Conv2dUneven",
                         [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
                           return by_gathering(Conv2d(weights / "conv", conv_options_of(inputs)), comm);
                         }),
                 "missing: conv.weight, conv.bias"));
}

using UpsampleForward = std::function<WidthShard(const Conv2d&, const WidthShard&, Communicator&)>;

ModuleMaker upsample_by(const UpsampleForward& forward) {
  return [forward](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const std::int64_t channels = inputs.integer("channels");
    return [=, &comm, conv = Conv2d(weights / "conv", {channels, channels})](const WidthShard& x) {
      return forward(conv, x, comm);
    };
  };
}

std::vector<std::int64_t> doubled(std::vector<std::int64_t> widths) {
  for (std::int64_t& width : widths) width *= 2;
  return widths;
}

TEST_CASE("right but for what it sends and computes: upsampling of the gathered picture") {
  const ModuleMaker make = [](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    return by_gathering(Upsample(weights, inputs.integer("channels")), comm);
  };
  CHECK(but_for_work(verdict("UpsampleNarrow", make)));
  CHECK(verdict("UpsampleTraffic", make) == "1 calls of all_to_all, expected at most 0");
}

TEST_CASE("wrong: zeros at the borders of slices after upsampling") {
  CHECK(verdict("UpsampleNarrow", upsample_by([](const Conv2d& conv, const WidthShard& x, Communicator&) {
                  return WidthShard{conv.forward(upsample_nearest(x.columns)), doubled(x.widths)};
                })) == "mismatch");
}

TEST_CASE("wrong: the convolution comes before upsampling") {
  CHECK(verdict("UpsampleNarrow", upsample_by([](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
                  return own_share(upsample_nearest(conv.forward(gathered(x, comm))), doubled(x.widths), comm);
                })) == "mismatch");
}

TEST_CASE("wrong: the halo is upsampled, too, and one column of it is cut off where there are two by now") {
  const auto cut_off = [](std::int64_t num_columns) {
    return upsample_by([num_columns](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
      const std::vector<std::int64_t> all = x.widths;
      const std::int64_t begin = std::accumulate(all.begin(), all.begin() + comm.rank(), std::int64_t{0});
      const std::int64_t width = x.columns.size(3);
      const at::Tensor with_halo = at::constant_pad_nd(gathered(x, comm), {1, 1}).narrow(3, begin, width + 2);
      const at::Tensor out = conv.forward(upsample_nearest(with_halo));
      return WidthShard{out.narrow(3, num_columns, 2 * width), doubled(all)};
    });
  };
  CHECK(verdict("UpsampleNarrow", cut_off(2)) == "passed");
  CHECK(verdict("UpsampleNarrow", cut_off(1)) == "mismatch");
}

TEST_CASE("wrong: widths that travel on as they were, or the rank's share of a freshly split picture") {
  CHECK(verdict("UpsampleNarrow", upsample_by([](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
                  return WidthShard{
                      own_share(conv.forward(upsample_nearest(gathered(x, comm))), doubled(x.widths), comm).columns,
                      x.widths};
                })) == "mismatch");
  CHECK(contains(verdict("UpsampleNarrow", upsample_by([](const Conv2d& conv, const WidthShard& x, Communicator& comm) {
                           // 10 columns: 3 3 2 2, not 4 2 2 2.
                           return split_width(conv.forward(upsample_nearest(gathered(x, comm))).detach(), comm.rank(),
                                              comm.size());
                         })),
                 "result 'out'"));
}

/// Statistics of the groups of each picture, [B, G, 1].
struct Statistics {
  at::Tensor mean, variance;
};

struct GroupsOfRanks {
  /// Each rank's columns, [B, G, values], possibly none.
  std::vector<at::Tensor> of_rank;

  at::Tensor all() const { return at::cat(of_rank, 2); }
};

using StatisticsOf = std::function<Statistics(const GroupsOfRanks&, int rank)>;

Statistics statistics_of(const at::Tensor& groups) {
  const at::Tensor mean = groups.mean(2, true);
  return {mean, (groups - mean).square().mean(2, true)};
}

Statistics right(const GroupsOfRanks& groups, int) {
  return statistics_of(groups.all());
}

at::Tensor mean_of(const GroupsOfRanks& groups, const std::function<at::Tensor(const at::Tensor&)>& of_one) {
  std::vector<at::Tensor> each;
  for (const at::Tensor& one : groups.of_rank) each.push_back(of_one(one));
  return at::stack(each).mean(0);
}

/// A norm that knows all columns, and takes its statistics from `of`.
ModuleMaker norm_by(const StatisticsOf& of, double epsilon = GroupNorm::kEpsilon) {
  return [=](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const GroupNorm norm(weights, inputs.integer("channels"), inputs.integer("groups"));
    return [=, &comm](const WidthShard& x) {
      GroupsOfRanks groups;
      for (const at::Tensor& columns : gathered(x, comm).split_with_sizes(x.widths, 3))
        groups.of_rank.push_back(columns.contiguous().view({columns.size(0), norm.num_groups, -1}));
      const Statistics found = of(groups, comm.rank());
      const at::Tensor& own = groups.of_rank[static_cast<std::size_t>(comm.rank())];
      const at::Tensor normal = ((own - found.mean) / (found.variance + epsilon).sqrt()).view(x.columns.sizes());
      return WidthShard{normal * norm.weight.view({-1, 1, 1}) + norm.bias.view({-1, 1, 1}), x.widths};
    };
  };
}

TEST_CASE("right but for what it sends: statistics of the gathered picture") {
  for (const char* name : {"GroupNormUneven", "GroupNormMean1000", "GroupNormEpsilon", "GroupNorm_32of128"})
    CHECK(verdict(name, norm_by(right)) == "passed");
  CHECK(verdict("GroupNormGradient", norm_by(right)) == "passed");
  CHECK(verdict("GroupNormMoments", norm_by(right)) == "0 bytes received of all_gather, expected at least 864");
}

std::string verdict_among(const std::vector<Case>& cases, const std::string& name, const ModuleMaker& make) {
  return testing::verdict(cases, name, module_call(make), 4);
}

TEST_CASE(
    "right but for all that it costs: statistics of the gathered picture, where only moments should be gathered") {
  for (const char* name : {"GroupNormMoments", "GroupNormSameEverywhere"}) {
    CAPTURE(name);
    CHECK(contains(verdict(name, norm_by(right)), "0 bytes received of all_gather, expected at least "));
    CHECK(contains(verdict_among(with_free_messages(all_cases()), name, norm_by(right)), " of one process's work"));
    CHECK(contains(verdict_among(with_free_messages(all_cases(), true), name, norm_by(right)),
                   " of one process's memory"));
  }
}

TEST_CASE("wrong: the norm is written over its input, which a residual block adds to it later") {
  const auto norm = [](bool in_place) -> ModuleMaker {
    return [in_place](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
      const ParallelGroupNorm layer(weights, inputs.integer("channels"), comm, inputs.integer("groups"));
      return [=](const WidthShard& x) {
        const WidthShard out = layer.forward(x);
        return in_place ? WidthShard{x.columns.copy_(out.columns), x.widths} : out;
      };
    };
  };
  for (const char* name : {"GroupNormUneven", "GroupNormMoments"}) {
    CHECK(verdict(name, norm(false)) == "passed");
    CHECK(verdict(name, norm(true)) == "mismatch");
  }
}

/// A mean by one collective, then the squares by another.
ModuleMaker norm_in_two_steps(bool gathers) {
  return [gathers](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
    const GroupNorm norm(weights, inputs.integer("channels"), inputs.integer("groups"));
    return [=, &comm](const WidthShard& x) {
      const at::Tensor groups = x.columns.contiguous().view({x.columns.size(0), norm.num_groups, -1});
      const double share = static_cast<double>(x.columns.size(3)) / static_cast<double>(x.total_width());
      const auto mean_of_all = [&](const at::Tensor& values) {
        const at::Tensor own = (values.mean(2, true) * share).contiguous();
        return gathers ? at::stack(comm.collectives().all_gather(own)).sum(0) : comm.collectives().all_reduce(own);
      };
      const at::Tensor centred = groups.to(at::kDouble) - mean_of_all(groups.to(at::kDouble));
      const at::Tensor normal = centred / (mean_of_all(centred.square()) + GroupNorm::kEpsilon).sqrt();
      return WidthShard{normal.to(x.columns.scalar_type()).view(x.columns.sizes()) * norm.weight.view({-1, 1, 1}) +
                            norm.bias.view({-1, 1, 1}),
                        x.widths};
    };
  };
}

TEST_CASE("right but for what it sends: two all-reduces, or two all-gathers for one") {
  for (const bool gathers : {false, true}) CHECK(verdict("GroupNormUneven", norm_in_two_steps(gathers)) == "passed");
  CHECK(verdict("GroupNormMoments", norm_in_two_steps(false)) == "2 calls of all_reduce, expected at most 0");
  CHECK(verdict("GroupNormMoments", norm_in_two_steps(true)) == "2 calls of all_gather, expected at most 1");
  CHECK(symptom("GroupNormMoments", norm_in_two_steps(true)) == "gathers_everything");
}

TEST_CASE("wrong: every rank normalises by its own columns") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int rank) {
    return statistics_of(groups.of_rank[static_cast<std::size_t>(rank)]);
  });
  for (const char* name : {"GroupNormUneven", "GroupNorm_8of512"}) {
    CHECK(verdict(name, make) == "mismatch");
    CHECK(symptom(name, make) == "local_variance");
  }
}

TEST_CASE("wrong: the ranks' variances averaged, without how their means differ") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int) {
    return Statistics{mean_of(groups, [](const at::Tensor& one) { return statistics_of(one).mean; }),
                      mean_of(groups, [](const at::Tensor& one) { return statistics_of(one).variance; })};
  });
  for (const char* name : {"GroupNormUneven", "GroupNorm_8of512", "GroupNormUnevenDouble"}) {
    CHECK(verdict(name, make) == "mismatch");
    CHECK(symptom(name, make) == "local_variance");
  }
}

TEST_CASE("wrong: every rank counts alike, however many columns it has; even widths hide it") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int) {
    const at::Tensor mean = mean_of(groups, [](const at::Tensor& one) { return one.mean(2, true); });
    return Statistics{mean,
                      mean_of(groups, [&](const at::Tensor& one) { return (one - mean).square().mean(2, true); })};
  });
  CHECK(verdict("GroupNorm_8of512", make) == "passed");
  CHECK(symptom("GroupNormUneven", make) != "local_variance");  // it is another mistake
  CHECK(verdict("GroupNormUneven", make) == "mismatch");
}

TEST_CASE("wrong: E[x^2] - E[x]^2 in float32; a small mean hides it") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int) {
    const at::Tensor all = groups.all(), mean = all.mean(2, true);
    return Statistics{mean, all.square().mean(2, true) - mean.square()};
  });
  CHECK(verdict("GroupNormUneven", make) == "passed");
  for (const char* name : {"GroupNormMean10", "GroupNormMean100", "GroupNormMean1000"})
    CHECK(verdict(name, make) == "mismatch");
}

TEST_CASE("wrong: PyTorch's epsilon, 1e-5; a large variance hides it almost") {
  CHECK(verdict("GroupNormEpsilon", norm_by(right, 1e-5)) == "mismatch");
  CHECK(verdict("GroupNormUneven", norm_by(right, 1e-5)) == "mismatch");
}

TEST_CASE("wrong: the sum of squares over n - 1") {
  CHECK(verdict("GroupNormUneven", norm_by([](const GroupsOfRanks& groups, int rank) {
                  Statistics found = right(groups, rank);
                  const auto n = static_cast<double>(groups.all().size(2));
                  return Statistics{found.mean, found.variance * (n / (n - 1))};
                })) == "mismatch");
}

TEST_CASE("wrong: a slice without columns, whose mean is not a number") {
  CHECK(verdict("GroupNormEmptySlices", norm_by([](const GroupsOfRanks& groups, int) {
                  const at::Tensor all = groups.all();
                  const at::Tensor mean = mean_of(groups, [&](const at::Tensor& one) {
                    return one.mean(2, true) *
                           (4.0 * static_cast<double>(one.size(2)) / static_cast<double>(all.size(2)));
                  });
                  return Statistics{mean, (all - mean).square().mean(2, true)};
                })) == "mismatch");
}

TEST_CASE("wrong: moments are merged beginning with the own ones; the ranks' statistics differ in their last bits") {
  const auto merged = [](bool own_first) -> ModuleMaker {
    return [own_first](const Weights& weights, const CaseInputs& inputs, Communicator& comm) -> ShardFunction {
      const GroupNorm layer(weights, inputs.integer("channels"), inputs.integer("groups"));
      return [=, &comm](const WidthShard& x) {
        std::vector<at::Tensor> parts = comm.collectives().all_gather(local_moments(x.columns, layer.num_groups));
        if (own_first) std::rotate(parts.begin(), parts.begin() + comm.rank(), parts.end());
        const GroupStatistics statistics(merged_moments(parts), GroupNorm::kEpsilon);
        return WidthShard{normalized(x.columns, statistics, layer.weight, layer.bias), x.widths};
      };
    };
  };
  CHECK(verdict("GroupNormSameEverywhere", merged(false)) == "passed");
  CHECK(verdict("GroupNormSameEverywhere", merged(true)) == "mismatch");
  CHECK(verdict("GroupNormUnevenDouble", merged(true)) == "passed");
}

TEST_CASE("wrong: the gradient takes mean and variance for constants; outputs are right") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int rank) {
    const Statistics found = right(groups, rank);
    return Statistics{found.mean.detach(), found.variance.detach()};
  });
  CHECK(verdict("GroupNormUneven", make) == "passed");
  CHECK(verdict("GroupNormGradient", make) == "mismatch");
}

TEST_CASE("wrong: the gradient knows the own columns' part of the statistics only; outputs are right") {
  const ModuleMaker make = norm_by([](const GroupsOfRanks& groups, int rank) {
    GroupsOfRanks own_alone = groups;
    for (std::size_t i = 0; i < groups.of_rank.size(); ++i) {
      if (i != static_cast<std::size_t>(rank)) own_alone.of_rank[i] = groups.of_rank[i].detach();
    }
    return right(own_alone, rank);
  });
  CHECK(verdict("GroupNormUneven", make) == "passed");
  CHECK(verdict("GroupNormGradient", make) == "mismatch");
}

}  // namespace
}  // namespace lab::vae
