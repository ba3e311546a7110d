#include "common/checks/tests/wrong_solutions.h"

#include <cmath>

namespace lab::testing {
namespace {

/// The right results, changed.
TaskCall changed(const SmallTask& task, const std::function<void(Communicator&, TensorMap&)>& change) {
  return [task, change](Communicator& comm, const CaseInputs& inputs) {
    TensorMap results = task.right(comm, inputs);
    for (auto& [name, tensor] : results) tensor = tensor.clone();
    change(comm, results);
    return results;
  };
}

TaskCall out_changed(const SmallTask& task, const std::function<at::Tensor(Communicator&, const at::Tensor&)>& change) {
  return changed(
      task, [change](Communicator& comm, TensorMap& results) { results.at("out") = change(comm, results.at("out")); });
}

TensorMap in_place(const at::Tensor& x) {
  return {{"out", x}, {"x", x}};
}

/// Part find_source(rank) of the sum over ranks.
TaskCall part_of_sum(const std::function<int(int rank, int size)>& find_source) {
  return [find_source](Communicator& comm, const CaseInputs& inputs) {
    return TensorMap{{"out", summed(comm, read_x(inputs)).narrow(0, 3 * find_source(comm.rank(), comm.size()), 3)}};
  };
}

std::vector<WrongSolution> wrong_sums() {
  const SmallTask sum = sum_task();
  return {
      {"divided_by_world_size", sum,
       all_changed(sum, [](Communicator& comm, const at::Tensor& t) { return t / comm.size(); })},
      {"times_world_size", sum,
       all_changed(sum, [](Communicator& comm, const at::Tensor& t) { return t * comm.size(); })},
      {"sign", sum, all_changed(sum, [](Communicator&, const at::Tensor& t) { return -t; })},
      {"zeros", sum, all_changed(sum, [](Communicator&, const at::Tensor& t) { return at::zeros_like(t); })},
      {"not_a_number", sum, all_changed(sum, [](Communicator&, const at::Tensor& t) { return t * std::nan(""); })},
      {"never_written", sum, all_changed(sum, [](Communicator&, const at::Tensor& t) { return at::empty_like(t); })},
      {"rounding_only", sum, all_changed(sum, [](Communicator&, const at::Tensor& t) { return t * (1 + 1e-7); })},
      {"result_undefined", sum, all_changed(sum, [](Communicator&, const at::Tensor&) { return at::Tensor(); })},
      {"wrong_dtype", sum, all_changed(sum, [](Communicator&, const at::Tensor& t) { return t.to(at::kFloat); })},
      {"own_part_only", sum, [](Communicator&, const CaseInputs& inputs) { return in_place(read_x(inputs)); }},
      {"argument_unchanged", sum,
       [](Communicator& comm, const CaseInputs& inputs) {
         return TensorMap{{"out", summed(comm, read_x(inputs))}, {"x", read_x(inputs)}};
       }},
      {"only_rank_zero_right", sum,
       [](Communicator& comm, const CaseInputs& inputs) {
         const at::Tensor total = summed(comm, read_x(inputs));
         return in_place(comm.rank() == 0 ? total : read_x(inputs));
       }},
      {"one_input_everywhere", sum,
       [](Communicator& comm, const CaseInputs& inputs) {
         return in_place(comm.collectives().broadcast(read_x(inputs), 0));
       }},
      {"summand_missing", sum,
       [](Communicator& comm, const CaseInputs& inputs) {
         return in_place(summed(comm, read_x(inputs)) - read_x(inputs));
       }},
      {"summand_missing", sum,
       [](Communicator& comm, const CaseInputs& inputs) {
         return in_place(summed(comm, comm.rank() == 2 ? at::zeros_like(read_x(inputs)) : read_x(inputs)));
       }},
      {"summand_twice", sum,
       [](Communicator& comm, const CaseInputs& inputs) {
         return in_place(summed(comm, read_x(inputs)) + read_x(inputs));
       }},
      {"sum_missing", product_task(),
       [](Communicator&, const CaseInputs& inputs) {
         return TensorMap{{"out", inputs.tensor("input.a") * inputs.tensor("input.b")}};
       }},
      {"average_missing", update_task(),
       [](Communicator&, const CaseInputs& inputs) {
         return TensorMap{{"W", inputs.tensor("weight.W") - 0.5 * inputs.tensor("input.grad")}};
       }},
      {"nothing_changed", update_task(),
       [](Communicator& comm, const CaseInputs& inputs) {
         summed(comm, inputs.tensor("input.grad"));
         return TensorMap{{"W", inputs.tensor("weight.W").clone()}};
       }},
      // A weight that took too large a step is not a multiple of the right weight.
      {"times_world_size", update_task(),
       [](Communicator& comm, const CaseInputs& inputs) {
         return TensorMap{{"W", inputs.tensor("weight.W") - 0.5 * summed(comm, inputs.tensor("input.grad"))}};
       }},
      {"times_count", count_task(),
       [](Communicator&, const CaseInputs& inputs) {
         return TensorMap{{"W.grad", inputs.tensor("input.x").sum(0)}};
       }},
      {"divided_by_count", count_task(),
       [](Communicator&, const CaseInputs& inputs) {
         return TensorMap{{"W.grad", inputs.tensor("input.x").sum(0) / 25}};
       }},
  };
}

/// The update, and the weight from before it.
SmallTask step_task() {
  SmallTask task = update_task();
  task.test_case.expected = [expected = task.test_case.expected,
                             inputs = task.test_case.inputs](const CasePlace& place) {
    TensorMap results = expected(place);
    results["initial"] = inputs(place).tensor("weight.W");
    return results;
  };
  task.right = [update = task.right](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor initial = inputs.tensor("weight.W").clone();
    TensorMap results = update(comm, inputs);
    results["initial"] = initial;
    return results;
  };
  return task;
}

std::vector<WrongSolution> wrong_places() {
  const SmallTask gather = gather_task(), scatter = scatter_task();
  const auto split_parts = [](Communicator& comm, const CaseInputs& inputs) {
    return comm.collectives().all_gather(read_x(inputs));
  };
  return {
      {"joined_along_another_dim", gather,
       [=](Communicator& comm, const CaseInputs& inputs) {
         return TensorMap{{"out", at::cat(split_parts(comm, inputs), 1)}, {"x", read_x(inputs)}};
       }},
      {"wrong_shape_right_numbers", gather,
       [=](Communicator& comm, const CaseInputs& inputs) {
         return TensorMap{{"out", at::stack(split_parts(comm, inputs))}, {"x", read_x(inputs)}};
       }},
      {"transposed", gather, out_changed(gather, [](Communicator&, const at::Tensor& t) { return t.t(); })},
      {"wrong_shape_is_part", gather,
       [](Communicator&, const CaseInputs& inputs) {
         return TensorMap{{"out", read_x(inputs)}, {"x", read_x(inputs)}};
       }},
      {"chunks_out_of_order",
       gather,
       out_changed(gather, [](Communicator& comm, const at::Tensor& t) { return t.roll(2 * (comm.rank() + 1), 0); }),
       {4}},
      {"own_part_only", gather,
       out_changed(gather,
                   [](Communicator& comm, const at::Tensor& t) {
                     const at::Tensor own = at::zeros_like(t);
                     own.narrow(0, 2 * comm.rank(), 2).copy_(t.narrow(0, 2 * comm.rank(), 2));
                     return own;
                   })},
      {"own_part_missing", gather,
       out_changed(gather,
                   [](Communicator& comm, const at::Tensor& t) {
                     t.narrow(0, 2 * comm.rank(), 2).zero_();
                     return t;
                   })},
      {"own_part_missing", gather,
       out_changed(gather,
                   [](Communicator& comm, const at::Tensor& t) {
                     t.narrow(0, 2 * comm.rank(), 2).fill_(std::nan(""));
                     return t;
                   })},
      {"first_slice_everywhere", gather,
       out_changed(gather,
                   [](Communicator& comm, const at::Tensor& t) {
                     return t.narrow(0, 0, 2).repeat({comm.size(), 1});
                   })},
      {"another_result", step_task(),
       [](Communicator& comm, const CaseInputs& inputs) {
         TensorMap results = step_task().right(comm, inputs);
         results.at("initial") = results.at("W");
         return results;
       }},
      {"argument_changed", gather, changed(gather, [](Communicator&, TensorMap& results) { results.at("x").mul_(2); })},
      {"wrong_shape_is_whole", scatter,
       [](Communicator& comm, const CaseInputs& inputs) {
         return TensorMap{{"out", summed(comm, read_x(inputs))}};
       }},
      {"ranks_shifted", scatter, part_of_sum([](int rank, int size) { return (rank + 1) % size; })},
      {"ranks_swapped", scatter, part_of_sum([](int rank, int) { return rank == 0  ? 0
                                                                        : rank < 3 ? 3 - rank
                                                                                   : rank; })},
      {"ranks_permuted", scatter, part_of_sum([](int rank, int size) { return size - 1 - rank; }), {4}},
      {"one_rank_everywhere", scatter, part_of_sum([](int, int) { return 0; })},
      {"borders_only", stencil_task(),
       [](Communicator&, const CaseInputs& inputs) {
         const at::Tensor padded = at::constant_pad_nd(read_x(inputs), {1, 1});
         return TensorMap{{"out", padded.narrow(3, 0, 6) + padded.narrow(3, 1, 6) + padded.narrow(3, 2, 6)}};
       }},
  };
}

std::vector<WrongSolution> wrong_layers() {
  const SmallTask row = row_task();
  return {{"bias_times_world_size", row,
           [row](Communicator& comm, const CaseInputs& inputs) {
             TensorMap results = row.right(comm, inputs);
             const at::Tensor own =
                 at::matmul(read_x(inputs), inputs.tensor("weight.W")) + inputs.tensor("weight.bias");
             results.at("out") = summed(comm, own);
             return results;
           }},
          {"bias_missing", row,
           [row](Communicator& comm, const CaseInputs& inputs) {
             TensorMap results = row.right(comm, inputs);
             results.at("out") = results.at("out") - inputs.tensor("weight.bias");
             return results;
           }},
          {"gradient_missing", row,
           changed(row, [](Communicator&, TensorMap& results) { results.at("x.grad") = at::Tensor(); })},
          // One mistake, and its consequence in another result: the clear one is named.
          {"bias_times_world_size", row, [row](Communicator& comm, const CaseInputs& inputs) {
             TensorMap results = row.right(comm, inputs);
             results.at("out") = results.at("out") + (comm.size() - 1) * inputs.tensor("weight.bias");
             results.at("x.grad") = results.at("x.grad").sin();
             return results;
           }}};
}

std::vector<WrongSolution> wrong_endings() {
  SmallTask frugal = scatter_task();
  frugal.test_case.bounds = on_every_rank({{"all_gather", 0}});
  SmallTask received = sum_task();
  CostBound least;
  least.operation = "all_reduce";
  least.min_bytes_received = 1;
  received.test_case.bounds = on_every_rank({least});
  SmallTask to_one = sum_task();
  CostBound one;
  one.max_destinations = 1;
  to_one.test_case.bounds = on_every_rank({one});
  SmallTask small_part = sum_task();
  small_part.test_case.work = [](const CasePlace& place) { return ShareBound{36, 36 / place.size}; };
  SmallTask small_memory = sum_task();
  small_memory.test_case.memory = [](const CasePlace& place) { return ShareBound{4000 * place.size, 4000}; };
  SmallTask together = sum_task();
  together.test_case.time = [](int, std::uint64_t) { return TimeBound{1'000'000'000, 1'500'000'000}; };
  const auto expected = received.test_case.expected;
  return {{"nothing_received", received,
           [expected](Communicator& comm, const CaseInputs&) {
             return expected({comm.rank(), comm.size(), 42});  // by the formula that made the inputs
           }},
          {"right_once", sum_task(),
           [](Communicator& comm, const CaseInputs& inputs) {
             thread_local int num_calls = 0;
             return in_place(summed(comm, read_x(inputs)) + num_calls++);
           }},
          {"works_for_all", small_part,
           [](Communicator& comm, const CaseInputs& inputs) {
             const at::Tensor sum = at::zeros({12, 3}, at::kDouble);
             for (const at::Tensor& each : comm.collectives().all_gather(read_x(inputs))) sum.add_(each);
             return in_place(sum);
           }},
          {"works_twice", small_part,
           [right = small_part.right](Communicator& comm, const CaseInputs& inputs) {
             const at::Tensor unused = at::ones({8, 3}, at::kDouble) * 2;  // 24 of 36 operations
             return right(comm, inputs);
           }},
          {"holds_for_all", small_memory,
           [](Communicator& comm, const CaseInputs& inputs) {
             const at::Tensor whole = at::zeros({12 * comm.size(), 1000}, at::kDouble);
             return in_place(summed(comm, read_x(inputs)) + whole[0][0]);
           }},
          {"one_after_the_other", together,
           [](Communicator& comm, const CaseInputs& inputs) {
             // 2 * 170^3 operations: 1 ms, on one rank after the other.
             const at::Tensor matrix = at::ones({170, 170}, at::kDouble);
             for (int rank = 0; rank < comm.size(); ++rank) {
               if (rank == comm.rank()) at::mm(matrix, matrix);
               comm.collectives().barrier();
             }
             return in_place(summed(comm, read_x(inputs)));
           }},
          {"another_pattern", to_one,
           [](Communicator& comm, const CaseInputs& inputs) {
             const at::Tensor own = read_x(inputs), sum = own.clone();
             std::vector<at::Tensor> parts;
             std::vector<Request> requests;
             for (int rank = 0; rank < comm.size(); ++rank) {
               if (rank == comm.rank()) continue;
               requests.push_back(comm.point_to_point().irecv(parts.emplace_back(at::empty_like(own)), rank));
               requests.push_back(comm.point_to_point().isend(own, rank));
             }
             for (Request& request : requests) request.wait();
             for (const at::Tensor& part : parts) sum.add_(part);
             return in_place(sum);
           }},
          {"deadlock", sum_task(),
           [](Communicator& comm, const CaseInputs& inputs) {
             const at::Tensor x = read_x(inputs);
             comm.point_to_point().recv(x, (comm.rank() + 1) % comm.size());
             return in_place(x);
           }},
          {"deadlock", sum_task(),
           [](Communicator& comm, const CaseInputs& inputs) {
             if (comm.rank() != 0) return in_place(read_x(inputs));
             return in_place(summed(comm, read_x(inputs)));
           }},
          {"stray_message", sum_task(),
           [](Communicator& comm, const CaseInputs& inputs) {
             const at::Tensor theirs = at::zeros({12, 3}, at::kDouble);
             { const Request dropped = comm.point_to_point().irecv(theirs, (comm.rank() + 1) % comm.size()); }
             return in_place(read_x(inputs));
           }},
          {"gathers_everything", frugal, [](Communicator& comm, const CaseInputs& inputs) {
             at::Tensor sum = at::zeros_like(read_x(inputs));
             for (const at::Tensor& each : comm.collectives().all_gather(read_x(inputs))) sum += each;
             return TensorMap{{"out", sum.narrow(0, 3 * comm.rank(), 3)}};
           }}};
}

}  // namespace

TaskCall all_changed(const SmallTask& task, const std::function<at::Tensor(Communicator&, const at::Tensor&)>& change) {
  return changed(task, [change](Communicator& comm, TensorMap& results) {
    for (auto& [name, tensor] : results) tensor = change(comm, tensor);
  });
}

std::vector<WrongSolution> wrong_solutions() {
  std::vector<WrongSolution> all;
  for (const auto& some : {wrong_sums(), wrong_places(), wrong_layers(), wrong_endings()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace lab::testing
