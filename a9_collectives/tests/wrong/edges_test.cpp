#include <ATen/Dispatch.h>
#include <fmt/format.h>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "a9_collectives/tests/wrong/collective.h"
#include "common/testing/test.h"

// Wrong solutions that are right on usual data: each passes all cases of a run, and fails on another dtype, shape, size
// or pair of dimensions, or in the last bits.
namespace lab::a9 {
namespace {

using testing::contains;

constexpr const char* kCollectives[] = {"Broadcast", "AllReduce", "AllGather", "ReduceScatter", "AllToAll"};

at::Tensor right_result(const std::string& collective, const at::Tensor& x, PointToPoint& p2p,
                        const CaseInputs& inputs) {
  if (collective == "Broadcast") return my_broadcast(x, src_rank_of(inputs), p2p);
  if (collective == "AllReduce") return my_allreduce(x, p2p);
  if (collective == "AllGather") return my_allgather(x, p2p);
  if (collective == "ReduceScatter") return my_reduce_scatter(x, p2p);
  return my_all_to_all(x, inputs.integer("scatter_dim"), inputs.integer("gather_dim"), p2p);
}

/// The cases of a run, which the solution passes; but for that of 1 MiB, which takes longer than all others together.
void check_passes_run(const std::string& collective, const OnTensor& function, int size = 4) {
  for (const Case& test_case : collective_cases()) {
    if (test_case.name.rfind(collective, 0) != 0 || test_case.name == "BroadcastLarge") continue;
    CAPTURE(test_case.name);
    CHECK(result_verdict(test_case.name, function, size) == "passed");
  }
}

/// Passes a run, and not the further case of that name.
void check_only_refused_by(const std::string& collective, const std::string& suffix, const OnTensor& function,
                           int size = 4) {
  check_passes_run(collective, function, size);
  const std::string verdict = result_verdict(collective + suffix, function, size);
  INFO(collective << suffix << ": " << verdict);
  CHECK(verdict != "passed");
  CHECK(verdict != "unknown case");
}

/// Elements as words of 32 bits, of which a dtype of 16 bits may have half a one.
at::Tensor words_of(const at::Tensor& tensor) {
  return tensor.contiguous().view({-1}).view(at::kInt);
}

TEST_CASE("wrong: elements travel as words of 32 bits") {
  check_only_refused_by("Broadcast", "BFloat16", [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const at::Tensor words = broadcast_flat(words_of(x).clone(), src_rank_of(inputs), p2p);
    return x.copy_(words.view(x.scalar_type()).view(x.sizes()));
  });
  check_only_refused_by("AllGather", "BFloat16", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape[0] *= p2p.size();
    return my_allgather(words_of(x), p2p).view(x.scalar_type()).view(shape);
  });
  check_only_refused_by("AllToAll", "BFloat16", [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const std::vector<at::Tensor> chunks = x.chunk(p2p.size(), inputs.integer("scatter_dim"));
    std::vector<at::Tensor> rows, parts;
    for (const at::Tensor& chunk : chunks) rows.push_back(words_of(chunk));
    for (const at::Tensor& row : my_all_to_all(at::stack(rows), 0, 0, p2p).unbind(0))
      parts.push_back(row.view(x.scalar_type()).view(chunks[0].sizes()));
    return at::cat(parts, inputs.integer("gather_dim"));
  });
}

/// A sum by a loop of one's own, for the usual dtypes.
at::Tensor added_by_loop(const at::Tensor& one, const at::Tensor& other) {
  const at::Tensor sum = one.contiguous().clone(), right = other.contiguous();
  AT_DISPATCH_ALL_TYPES(sum.scalar_type(), "added_by_loop", [&] {
    for (std::int64_t i = 0; i < sum.numel(); ++i) sum.data_ptr<scalar_t>()[i] += right.data_ptr<scalar_t>()[i];
  });
  return sum;
}

at::Tensor sum_by_loop(const at::Tensor& x, PointToPoint& p2p) {
  at::Tensor sum;
  for (const at::Tensor& row : my_allgather(x.unsqueeze(0), p2p).unbind(0))
    sum = sum.defined() ? added_by_loop(sum, row) : row;
  return sum;
}

TEST_CASE("wrong: sums by a loop that does not know every dtype") {
  check_only_refused_by("AllReduce", "BFloat16", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return x.copy_(sum_by_loop(x, p2p));
  });
  check_only_refused_by("ReduceScatter", "BFloat16", [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return sum_by_loop(x, p2p).chunk(p2p.size(), 0)[static_cast<std::size_t>(p2p.rank())];
  });
}

TEST_CASE("wrong: a number of columns that LibTorch is asked for, and cannot tell if there are no rows") {
  for (const std::string collective : kCollectives) {
    check_only_refused_by(collective, "Empty", [&](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
      const at::Tensor rows = x.reshape({x.size(0), -1});
      return rows.size(0) == x.size(0) ? right_result(collective, x, p2p, inputs) : rows;
    });
  }
}

TEST_CASE("wrong: piece by piece along the first dimension, which a scalar does not have") {
  for (const std::string collective : {"Broadcast", "AllReduce"}) {
    check_only_refused_by(collective, "Scalar", [&](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
      for (const at::Tensor& piece : x.chunk(p2p.size(), 0)) right_result(collective, piece, p2p, inputs);
      return x;
    });
  }
}

/// The tensor's elements, if it begins where its storage begins.
at::Tensor from_storage(const at::Tensor& x) {
  return at::from_blob(const_cast<void*>(x.storage().data()), x.sizes(), x.strides(), x.options());
}

TEST_CASE("wrong: a tensor is taken for its whole storage") {
  for (const std::string collective : kCollectives) {
    check_only_refused_by(collective, "Slice", [&](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
      const at::Tensor out = right_result(collective, from_storage(x), p2p, inputs);
      return place_of(collective) == Place::kInPlace ? x : out;
    });
  }
}

TEST_CASE("wrong: dimensions that are equal are taken for the first, or must not be counted from the end") {
  check_only_refused_by("AllToAll", "WithinMiddle", [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const std::int64_t scatter_dim = inputs.integer("scatter_dim"), gather_dim = inputs.integer("gather_dim");
    if (scatter_dim != gather_dim) return my_all_to_all(x, scatter_dim, gather_dim, p2p);
    return my_all_to_all(x.contiguous().view({p2p.size(), -1}), 0, 0, p2p).view(x.sizes());
  });
  check_only_refused_by("AllToAll", "WithinLast", [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const std::int64_t scatter_dim = inputs.integer("scatter_dim"), gather_dim = inputs.integer("gather_dim");
    const bool is_last = scatter_dim == x.dim() - 1 && gather_dim == scatter_dim && x.dim() > 1;
    return is_last ? x.clone() : my_all_to_all(x, scatter_dim, gather_dim, p2p);
  });
  check_only_refused_by("AllToAll", "FromTheEnd", [](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const std::int64_t scatter_dim = inputs.integer("scatter_dim"), gather_dim = inputs.integer("gather_dim");
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.at(static_cast<std::size_t>(scatter_dim)) /= p2p.size();
    shape.at(static_cast<std::size_t>(gather_dim)) *= p2p.size();
    return my_all_to_all(x, scatter_dim, gather_dim, p2p).view(shape);
  });
}

/// Right while the larger of input and result has at most `num_bytes`.
OnTensor wrong_beyond(const std::string& collective, std::int64_t num_bytes) {
  return [=](at::Tensor x, PointToPoint& p2p, const CaseInputs& inputs) {
    const at::Tensor out = right_result(collective, x, p2p, inputs);
    if (static_cast<std::int64_t>(std::max(x.nbytes(), out.nbytes())) > num_bytes) out.view({-1})[-1].add_(1);
    return out;
  };
}

TEST_CASE("wrong: the algorithm for long tensors, from whatever size on") {
  constexpr std::int64_t kKiB = 1024;
  for (const std::string collective : kCollectives) {
    CAPTURE(collective);
    CHECK(result_verdict(collective + "256KiB", wrong_beyond(collective, 128 * kKiB)) == "mismatch");
    CHECK(result_verdict(collective + "1MiB", wrong_beyond(collective, 512 * kKiB)) == "mismatch");
    check_passes_run(collective, wrong_beyond(collective, 512 * kKiB));
  }
  for (const std::string collective : {"Broadcast", "AllReduce", "AllGather"})
    CHECK(result_verdict(collective + "8MiB", wrong_beyond(collective, 8192 * kKiB)) == "mismatch");
  CHECK(result_verdict("BroadcastLarge", wrong_beyond("Broadcast", 8192 * kKiB)) == "passed");
}

TEST_CASE("wrong: each rank adds what it gathers, its own tensor first: the last bits differ between ranks") {
  const OnTensor own_first = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    const std::vector<at::Tensor> all = my_allgather(x.unsqueeze(0), p2p).unbind(0);
    const int size = p2p.size();
    for (int distance = 1; distance < size; ++distance)
      x.add_(all[static_cast<std::size_t>((p2p.rank() + distance) % size)]);
    return x;
  };
  const OnTensor rank_order = [](at::Tensor x, PointToPoint& p2p, const CaseInputs&) {
    return x.copy_(my_allgather(x.unsqueeze(0), p2p).sum(0));
  };
  check_passes_run("AllReduce", own_first);
  const auto reason_of = [](const OnTensor& function, int size) {
    for (const Case& test_case : further_collective_cases()) {
      if (test_case.name == "AllReduceSameBits")
        return testing::judged(test_case, call_of(test_case.name, function), size).reason;
    }
    return std::string("unknown case");
  };
  for (const int size : {3, 4, 8}) {
    const std::string reason = reason_of(own_first, size);
    INFO(size << " ranks: " << reason);
    CHECK(contains(reason, "rank 1, result 'out', element ["));
    CHECK(contains(reason, " on rank 0: expected the same bits on all ranks"));
  }
  for (const int size : {1, 2, 3, 4, 8}) {
    CHECK(reason_of(rank_order, size).empty());
    CHECK(reason_of(claims(allreduce_gather_broadcast), size).empty());
    CHECK(reason_of(claims(allreduce_recursive_doubling), size).empty());
    CHECK(reason_of(claims(allreduce_ring), size).empty());
  }
}

}  // namespace
}  // namespace lab::a9
