#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/tests/wrong/transformer.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"

// Right numbers on every rank, but by other means than the tasks ask for: a built-in collective that is not allowed,
// keys and values gathered, more or less sent than it takes, or the work not shared. And what is allowed.
namespace lab::a9 {
namespace {

/// The case refuses it for this bound.
void check_over(const std::string& case_name, const TaskCall& call, int num_ranks, const std::string& bound) {
  const std::string said = block_verdict(case_name, call, num_ranks);
  INFO(case_name << " on " << num_ranks << " ranks: " << said);
  CHECK(testing::contains(said, bound));
}

TEST_CASE("wrong: every rank computes the whole block; right numbers, but the work is not shared") {
  const auto works_for_all = [](const std::string& case_name, const TaskCall& call, int num_ranks) {
    const std::string said = block_verdict(case_name, call, num_ranks);
    INFO(case_name << " on " << num_ranks << " ranks: " << said);
    CHECK(testing::contains(said, " of one process's work"));
  };
  const TaskCall whole = [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    const at::Tensor x = inputs.tensor("input.x"), out = block.forward(x).detach();
    // As many bytes as the two sums would have.
    for (const at::Tensor& tensor : {x.clone(), x.clone()}) my_allreduce(tensor, comm.point_to_point());
    cut(block, comm);
    return tensor_parallel_results(block, inputs, out);
  };
  works_for_all("TensorParallel", whole, 2);
  works_for_all("TensorParallel8", whole, 3);
  works_for_all("TensorParallel", whole, 4);
  const TaskCall gathered = [](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x_shard = inputs.tensor("input.x_shard");
    // As many bytes as the all-to-alls there and back would have, less those of the gathering.
    const at::Tensor turned = my_all_to_all(x_shard, 2, 1, comm.point_to_point());
    const at::Tensor out_of_turn = my_all_to_all(turned, 1, 2, comm.point_to_point());
    const at::Tensor rows = out_of_turn.transpose(0, 1).contiguous();
    const at::Tensor x = my_allgather(rows, comm.point_to_point()).transpose(0, 1).contiguous();
    const Block block = block_of(inputs);
    const at::Tensor out = block.forward(x).detach();
    return ulysses_results(block, inputs, part(out, 1, comm));
  };
  works_for_all("Ulysses", gathered, 2);  // on more ranks, it sends too many bytes as well
}

/// [B, S/P, H, K] to [B, S, H, K], from every rank.
at::Tensor gathered_by_built_in(const at::Tensor& x, Communicator& comm) {
  return at::cat(comm.collectives().all_gather(x.detach().contiguous()), 1);
}
at::Tensor gathered_by_broadcasts(const at::Tensor& x, Communicator& comm) {
  std::vector<at::Tensor> parts;
  for (int src_rank = 0; src_rank < comm.size(); ++src_rank)
    parts.push_back(comm.collectives().broadcast(x.detach().clone(at::MemoryFormat::Contiguous), src_rank));
  return at::cat(parts, 1);
}
at::Tensor gathered_by_sum(const at::Tensor& x, Communicator& comm) {
  const at::Tensor all = at::zeros({x.size(0), x.size(1) * comm.size(), x.size(2), x.size(3)}, x.options());
  all.narrow(1, comm.rank() * x.size(1), x.size(1)).copy_(x.detach());
  return comm.collectives().all_reduce(all);
}

/// There and back: as many messages and bytes as two all-to-alls, and nothing is done with them.
at::Tensor there_and_back(const at::Tensor& x, Communicator& comm) {
  const at::Tensor there = my_all_to_all(x.detach(), 2, 1, comm.point_to_point());
  return my_all_to_all(there, 1, 2, comm.point_to_point());
}

TEST_CASE("wrong: keys and values by built-in collectives, next to the messages of four all-to-alls") {
  const struct {
    Ulysses::Exchange gathered;
    const char* bound;
  } ways[] = {{gathered_by_built_in, " bytes sent of all_gather, expected at most "},
              {gathered_by_broadcasts, " calls of broadcast, expected at most 0"},
              {gathered_by_sum, " bytes sent of all_reduce, expected at most "}};
  for (const auto& way : ways) {
    Ulysses wrong;
    wrong.there = wrong.back = there_and_back;
    wrong.keys_there = way.gathered;
    check_over("Ulysses", call_of(wrong), 4, way.bound);
    check_over("Ulysses8", call_of(wrong), 2, way.bound);
    check_over("Ulysses8", call_of(wrong), 5, way.bound);
  }
}

TEST_CASE("wrong: keys and values by a built-in collective, next to messages that are empty") {
  Ulysses wrong;
  wrong.there = wrong.back = [](const at::Tensor& x, Communicator& comm) {
    there_and_back(at::zeros({1, 1, comm.size(), 0}), comm);
    return x;
  };
  wrong.keys_there = gathered_by_built_in;
  for (const int size : {2, 3, 8})
    check_over("Ulysses8", call_of(wrong), size, " bytes received of a9.ulysses, expected at least ");
}

TEST_CASE("wrong: the normed input is gathered, and only the context exchanged") {
  const TaskCall call = [](Communicator& comm, const CaseInputs& inputs) {
    const Block block = block_of(inputs);
    const at::Tensor x_shard = inputs.tensor("input.x_shard");
    const at::Tensor normed = normalize(x_shard, block.ln1_weight, block.ln1_bias).detach();
    const at::Tensor rows = my_allgather(normed.transpose(0, 1).contiguous(), comm.point_to_point());
    const at::Tensor all = rows.transpose(0, 1);
    const auto own_heads = [&](const at::Tensor& weight) {
      return split_heads(at::linear(all, part(weight, 0, comm)), block.options().num_heads / comm.size());
    };
    const at::Tensor context = attention(own_heads(block.q_proj), own_heads(block.k_proj), own_heads(block.v_proj));
    const at::Tensor back = my_all_to_all(context, 1, 2, comm.point_to_point());
    const at::Tensor attended = x_shard + at::linear(merge_heads(back), block.o_proj);
    const at::Tensor again = normalize(attended, block.ln2_weight, block.ln2_bias);
    const at::Tensor hidden = at::relu(at::linear(again, block.fc1, block.fc1_bias));
    return ulysses_results(block, inputs, attended + at::linear(hidden, block.fc2, block.fc2_bias));
  };
  // On 3 and 4 ranks it takes no more bytes than four of Bruck's all-to-alls.
  check_over("Ulysses8", call, 2, " bytes received of a9.ulysses, expected at least ");
  for (const int size : {5, 6, 7, 8})
    check_over("Ulysses8", call, size, " bytes sent of a9.ulysses, expected at most ");
}

TEST_CASE("right: Ulysses by Bruck's all-to-all, which sends fewer messages and more bytes") {
  Ulysses right;
  const auto by_bruck = [](std::int64_t scatter_dim, std::int64_t gather_dim) {
    return [=](const at::Tensor& x, Communicator& comm) {
      return all_to_all_bruck(x.detach(), scatter_dim, gather_dim, comm.point_to_point());
    };
  };
  right.there = by_bruck(2, 1);
  right.back = by_bruck(1, 2);
  for (const int size : {2, 3, 5, 6, 7, 8}) CHECK(block_verdict("Ulysses8", call_of(right), size) == "passed");
}

TEST_CASE("right: lengths of shards by all_gather, and barriers, around Ulysses") {
  const TaskCall call = [](Communicator& comm, const CaseInputs& inputs) {
    comm.collectives().barrier();
    const std::int64_t length = inputs.tensor("input.x_shard").size(1);
    comm.collectives().all_gather(at::full({1}, length, at::kLong));
    return call_of(Ulysses())(comm, inputs);
  };
  for (const int size : {1, 2, 4}) CHECK(block_verdict("Ulysses", call, size) == "passed");
}

using Sum = std::function<at::Tensor(const at::Tensor& summand, Communicator&)>;

at::Tensor sum_by_all_reduce(const at::Tensor& summand, Communicator& comm) {
  return comm.collectives().all_reduce(summand.detach().clone());
}
at::Tensor sum_by_its_halves(const at::Tensor& summand, Communicator& comm) {
  const std::int64_t rest = (comm.size() - summand.numel() % comm.size()) % comm.size();
  const at::Tensor row = at::constant_pad_nd(summand.detach().reshape({-1}), {0, rest});
  const at::Tensor sums = at::cat(comm.collectives().all_gather(comm.collectives().reduce_scatter(row)));
  return sums.narrow(0, 0, summand.numel()).view(summand.sizes());
}
at::Tensor sum_of_gathered(const at::Tensor& summand, Communicator& comm) {
  return at::stack(comm.collectives().all_gather(summand.detach().contiguous())).sum(0);
}
at::Tensor sum_by_messages(const at::Tensor& summand, Communicator& comm) {
  return my_allreduce(summand.detach().clone(), comm.point_to_point());
}
at::Tensor sum_by_broadcasts(const at::Tensor& summand, Communicator& comm) {
  at::Tensor sum = at::zeros_like(summand);
  for (int src_rank = 0; src_rank < comm.size(); ++src_rank)
    sum += comm.collectives().broadcast(summand.detach().clone(), src_rank);
  return sum;
}
at::Tensor sum_by_exchange(const at::Tensor& summand, Communicator& comm) {
  const auto size = static_cast<std::size_t>(comm.size());
  const std::vector<at::Tensor> parts(size, summand.detach().contiguous());
  const std::vector<std::vector<std::int64_t>> shapes(size, summand.sizes().vec());
  return at::stack(comm.collectives().all_to_all(parts, shapes)).sum(0);
}

TaskCall tensor_parallel_with(const Sum& sum) {
  TensorParallel variant;
  variant.sum = sum;
  return call_of(variant);
}

TEST_CASE("right: tensor parallel by its own messages, by all_reduce or its halves, or by gathering the summands") {
  for (const Sum& sum : {Sum(sum_by_messages), Sum(sum_by_all_reduce), Sum(sum_by_its_halves), Sum(sum_of_gathered)}) {
    for (const int size : {1, 2, 3, 4, 5, 8})
      CHECK(block_verdict("TensorParallel8", tensor_parallel_with(sum), size) == "passed");
    CHECK(passes("TensorParallel", tensor_parallel_with(sum)));
  }
}

TEST_CASE("wrong: tensor parallel by other built-in collectives, or with a sum too many") {
  for (const int size : {2, 3, 8}) {
    check_over("TensorParallel8", tensor_parallel_with(sum_by_broadcasts), size,
               " calls of broadcast, expected at most");
    check_over("TensorParallel8", tensor_parallel_with(sum_by_exchange), size,
               " calls of all_to_all, expected at most");
    const Sum twice = [](const at::Tensor& summand, Communicator& comm) {
      return sum_by_all_reduce(sum_by_all_reduce(summand, comm) / comm.size(), comm);
    };
    check_over("TensorParallel8", tensor_parallel_with(twice), size, " bytes sent of all_reduce, expected at most ");
  }
}

TEST_CASE("wrong: tensor parallel without a message: every rank keeps the whole weights") {
  const TaskCall call = [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    const at::Tensor out = block.forward(inputs.tensor("input.x"));
    cut(block, comm);
    return tensor_parallel_results(block, inputs, out);
  };
  for (const int size : {2, 7})
    check_over("TensorParallel8", call, size, "0 bytes received in all, expected at least ");
}

/// The results of ParallelFunctions with these sums and exchanges.
TaskCall functions_by(const Sum& sum,
                      const std::function<at::Tensor(const at::Tensor&, int, int, Communicator&)>& exchange) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    TensorMap results;
    const auto given = [&](const std::string& name) { return inputs.tensor("input." + name); };
    for (const std::string name : {"f.x", "f.grad_out", "g.x", "g.grad_out", "all_to_all.x", "all_to_all.grad_out"})
      results[name] = given(name);
    results["f.out"] = given("f.x");
    results["f.x.grad"] = sum(given("f.grad_out"), comm);
    results["g.out"] = sum(given("g.x"), comm);
    results["g.x.grad"] = given("g.grad_out");
    results["all_to_all.out"] = exchange(given("all_to_all.x"), 2, 1, comm);
    results["all_to_all.x.grad"] = exchange(given("all_to_all.grad_out"), 1, 2, comm);
    return results;
  };
}

at::Tensor exchange_by_messages(const at::Tensor& x, int scatter_dim, int gather_dim, Communicator& comm) {
  return my_all_to_all(x, scatter_dim, gather_dim, comm.point_to_point());
}
at::Tensor exchange_by_built_in(const at::Tensor& x, int scatter_dim, int gather_dim, Communicator& comm) {
  std::vector<at::Tensor> parts;
  std::vector<std::vector<std::int64_t>> shapes;
  for (const at::Tensor& chunk : x.chunk(comm.size(), scatter_dim)) {
    parts.push_back(chunk.contiguous());
    shapes.push_back(chunk.sizes().vec());
  }
  return at::cat(comm.collectives().all_to_all(parts, shapes), gather_dim);
}

TEST_CASE("right: f and g by all_reduce, built-in or not; wrong: the all-to-all by a built-in, or a sum too many") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const Sum& sum : {Sum(sum_by_messages), Sum(sum_by_all_reduce), Sum(sum_by_its_halves)})
      CHECK(block_verdict("ParallelFunctions", functions_by(sum, exchange_by_messages), size) == "passed");
    if (size == 1) continue;
    check_over("ParallelFunctions", functions_by(sum_by_all_reduce, exchange_by_built_in), size,
               " bytes received of a9.parallel_functions, expected at least ");
    check_over("ParallelFunctions", functions_by(sum_by_broadcasts, exchange_by_messages), size,
               " calls of broadcast, expected at most ");
    const TaskCall f_sums_twice = [](Communicator& comm, const CaseInputs& inputs) {
      TensorMap results = functions_by(sum_by_all_reduce, exchange_by_messages)(comm, inputs);
      results["f.out"] = sum_by_all_reduce(results["f.x"], comm) / comm.size();
      return results;
    };
    check_over("ParallelFunctions", f_sums_twice, size, " bytes sent of all_reduce, expected at most ");
  }
}

TEST_CASE("right: weight gradients after Ulysses by all_reduce, each or all in one; wrong: by a broadcast of each") {
  const auto finished_by = [](const Sum& sum) {
    return gradient_call_of(Ulysses(), [sum](const TensorMap& weights, Communicator& comm) {
      for (const auto& [name, weight] : weights) weight.grad().copy_(sum(weight.grad(), comm));
    });
  };
  const TaskCall in_one = gradient_call_of(Ulysses(), [](const TensorMap& weights, Communicator& comm) {
    std::vector<at::Tensor> rows;
    for (const auto& [name, weight] : weights) rows.push_back(weight.grad().view({-1}));
    at::Tensor sums = sum_by_all_reduce(at::cat(rows), comm);
    for (const auto& [name, weight] : weights) {
      weight.grad().view({-1}).copy_(sums.narrow(0, 0, weight.numel()));
      sums = sums.narrow(0, weight.numel(), sums.numel() - weight.numel());
    }
  });
  for (const int size : {2, 3, 4}) {
    for (const Sum& sum : {Sum(sum_by_messages), Sum(sum_by_all_reduce), Sum(sum_by_its_halves)})
      CHECK(block_verdict("UlyssesGrad", finished_by(sum), size) == "passed");
    CHECK(block_verdict("UlyssesGrad", in_one, size) == "passed");
    check_over("UlyssesGrad", finished_by(sum_by_broadcasts), size, " calls of broadcast, expected at most ");
  }
}

TEST_CASE("wrong: one built-in collective among one's own, or one sum too many") {
  const TaskCall own = calls().at("a9.design");
  CHECK(passes("OwnCollectives", own));
  const auto after = [own](const std::function<void(Communicator&, const CaseInputs&)>& more) -> TaskCall {
    return [own, more](Communicator& comm, const CaseInputs& inputs) {
      more(comm, inputs);
      return own(comm, inputs);
    };
  };
  for (const int size : {2, 3, 5}) {
    check_over("OwnCollectives",
               after([](Communicator& comm, const CaseInputs&) { comm.collectives().all_reduce(at::ones({1})); }), size,
               "1 calls of all_reduce, expected at most 0");
    CHECK(block_verdict("OwnCollectives",
                        after([](Communicator& comm, const CaseInputs&) { comm.collectives().barrier(); }),
                        size) == "passed");  // it moves nothing
    check_over("OwnCollectives", after([](Communicator& comm, const CaseInputs& inputs) {
                 for (int turn = 0; turn < 4; ++turn)
                   my_allreduce(inputs.tensor("input.x").clone(), comm.point_to_point());
               }),
               size, " bytes sent of a9.design, expected at most ");
  }
}

}  // namespace
}  // namespace lab::a9
