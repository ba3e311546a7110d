#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "a9_collectives/costs.h"
#include "common/comm/point_to_point.h"

// Every collective and every algorithm of this lab by name, called alike: from rank 0, along dimension 0. For the
// commands that compare them (bench, sim, explain) and for the tests that count their messages.
namespace lab::a9 {

struct Algorithm {
  std::string name;  ///< "ring"
  std::function<at::Tensor(const at::Tensor& input, PointToPoint&)> run;
  std::function<Cost(double num_bytes, int num_ranks)> cost;
};

struct Collective {
  std::string name;  ///< "allreduce"; the student's function is my_allreduce
  std::vector<Algorithm> algorithms;
  std::function<at::Tensor(const at::Tensor& input, PointToPoint&)> run;     ///< the student's own choice
  std::function<std::string(std::int64_t num_bytes, int num_ranks)> choose;  ///< which one that is
  /// Elements of one rank's input where the collective is on num_elements. Bytes are counted as nccl-tests does: the
  /// larger of input and result on one rank.
  std::function<std::int64_t(std::int64_t num_elements, int num_ranks)> input_elements;
  /// Bus bandwidth over algorithm bandwidth, as in nccl-tests: the least share of the bytes that must cross a rank's
  /// link.
  std::function<double(int num_ranks)> bus_factor;
};

/// broadcast, allreduce, allgather, reduce_scatter, all_to_all.
const std::vector<Collective>& catalogue();

/// Errors    UsageError: there is none of this name; the known ones are listed
const Collective& collective_named(std::string_view name);
const Algorithm& algorithm_named(const Collective& collective, std::string_view name);

}  // namespace lab::a9
