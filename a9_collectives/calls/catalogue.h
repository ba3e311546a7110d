#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/api/point_to_point.h"
#include "common/rank/task_call.h"

// Every collective and every algorithm of this lab by name: as a task, for cases; and with one signature, from rank 0
// and along dimension 0, for the commands that compare them (bench, sim, explain) and the tests that count messages.
namespace lab::a9 {

/// The cost of an algorithm's longest chain of waits in the alpha-beta model (every rank sends and receives at the same
/// time, one message each way at full speed): the formula in the algorithm's header, evaluated.
struct Cost {
  double steps = 0;       ///< times alpha
  double path_bytes = 0;  ///< times beta

  double seconds(double alpha, double beta) const { return steps * alpha + path_bytes * beta; }
};

struct Algorithm {
  std::string name;  ///< "ring"
  std::function<at::Tensor(const at::Tensor& input, PointToPoint&)> run;
  std::function<Cost(double num_bytes, int num_ranks)> cost;  ///< num_bytes is the n of the formula in the header
  bool through_one_rank = false;                              ///< one rank sends or receives (P-1) times the data
  TaskCall call = {};                                         ///< with what a case gives
};

struct Collective {
  std::string name;                   ///< "allreduce"; the student's function is my_allreduce
  TaskCall call;                      ///< the student's own choice, with what a case gives
  std::vector<Algorithm> algorithms;  ///< the simple one first; each other one is a task, "a9.allreduce_ring"
  std::function<at::Tensor(const at::Tensor& input, PointToPoint&)> run;     ///< the student's own choice
  std::function<std::string(std::int64_t num_bytes, int num_ranks)> choose;  ///< which one that is
  /// Elements of one rank's input for a collective on num_elements. Sizes are counted as in nccl-tests: the larger of
  /// input and result on one rank.
  std::function<std::int64_t(std::int64_t num_elements, int num_ranks)> input_elements;
  /// Bus bandwidth over algorithm bandwidth, as in nccl-tests: the least share of the bytes that must cross a rank's
  /// link.
  std::function<double(int num_ranks)> bus_factor;
};

/// broadcast, allreduce, allgather, reduce_scatter, all_to_all.
const std::vector<Collective>& catalogue();

/// Errors    UsageError: unknown name; lists the known ones
const Collective& collective_named(std::string_view name);
const Algorithm& algorithm_named(const Collective& collective, std::string_view name);

}  // namespace lab::a9
