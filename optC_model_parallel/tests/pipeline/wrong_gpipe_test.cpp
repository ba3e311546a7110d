#include <c10/core/GradMode.h>

#include <map>
#include <memory>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/gpipe.h"

// Each mistake with the order and the messages of GPipe, as a wrong solution, and the case that catches it.
namespace lab::optc {
namespace {

using testing::contains;

/// The verdict on the named case with this call instead of its own, the same on 2 and on 4 ranks.
std::string gpipe_verdict(const std::string& case_name, const TaskCall& call) {
  const std::vector<Case> cases = all_cases();
  const std::string on_two = testing::verdict(cases, case_name, call, 2);
  const std::string on_four = testing::verdict(cases, case_name, call, 4);
  return on_two == on_four ? on_two : on_two + " / " + on_four;
}

std::string verdict_on_gpipe(const std::string& case_name, const GpipeFunction& function) {
  return gpipe_verdict(case_name, [&](Communicator& comm, const CaseInputs& inputs) {
    return case_name == "GpipeAlone" ? gpipe_alone_trial(comm, inputs, function) : pass_trial(comm, inputs, function);
  });
}

TEST_CASE("the reference passes by the same road") {
  for (const char* name :
       {"GpipeAlone", "Gpipe", "GpipeFewImages", "GpipeOneMicroBatch", "GpipeRecompute", "GpipeLong"})
    CHECK(verdict_on_gpipe(name, gpipe) == "passed");
}

/// A gpipe() rank's communication with its neighbours, named as in its header.
struct Neighbours {
  Neighbours(PointToPoint& messages, const pipeline::Buffers& make) : p2p(messages), buffers(make) {}

  bool first() const { return p2p.rank() == 0; }
  bool last() const { return p2p.rank() == p2p.size() - 1; }

  at::Tensor input(int i, int tag) {
    if (first()) return {};
    const at::Tensor tensor = buffers(p2p.rank(), i);
    p2p.recv(tensor, p2p.rank() - 1, tag);
    return tensor;
  }
  at::Tensor output_grad(int i, int tag) {
    if (last()) return {};
    const at::Tensor tensor = buffers(p2p.rank() + 1, i);
    p2p.recv(tensor, p2p.rank() + 1, tag);
    return tensor;
  }
  void give_output(const at::Tensor& output, int tag) {
    if (!last()) p2p.send(output, p2p.rank() + 1, tag);
  }
  void give_input_grad(const at::Tensor& grad, int tag) {
    if (!first()) p2p.send(grad, p2p.rank() - 1, tag);
  }

  PointToPoint& p2p;
  const pipeline::Buffers& buffers;
};

/// gpipe() with these functions; `back` gives the order of micro-batches on the way back, at each step.
GpipeFunction backward_in_order(const std::function<int(int place, int m, bool last)>& back) {
  return [back](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    for (int i = 0; i < m; ++i) neighbours.give_output(work.forward(0, i, neighbours.input(i, i)), i);
    for (int place = 0; place < m; ++place) {
      const int i = back(place, m, neighbours.last());
      neighbours.give_input_grad(work.backward(0, i, neighbours.output_grad(i, place)), place);
    }
  };
}

TEST_CASE("right: blocking messages, and the way back in the opposite order on all stages") {
  for (const char* name : {"GpipeAlone", "Gpipe", "GpipeLong"}) {
    CHECK(verdict_on_gpipe(name, backward_in_order([](int place, int, bool) { return place; })) == "passed");
    CHECK(verdict_on_gpipe(name, backward_in_order([](int place, int m, bool) { return m - 1 - place; })) == "passed");
  }
}

TEST_CASE("wrong: the last stage goes back through the last micro-batch first, its neighbours through the first") {
  const GpipeFunction mixed =
      backward_in_order([](int place, int m, bool last) { return last ? m - 1 - place : place; });
  CHECK(contains(verdict_on_gpipe("GpipeAlone", mixed), "[0, "));      // shapes differ
  CHECK(contains(verdict_on_gpipe("Gpipe", mixed), "[8, "));           // an uneven one is where another should be
  CHECK(contains(verdict_on_gpipe("GpipeRecompute", mixed), "[5, "));  // 29 in 6
}

TEST_CASE("wrong: the last stage takes two micro-batches of the same size for each other") {
  // Micro-batches 1 and 2 of Gpipe have 7 images each.
  const GpipeFunction mistaken =
      backward_in_order([](int place, int, bool last) { return !last || place == 0 || place > 2 ? place : 3 - place; });
  CHECK(verdict_on_gpipe("Gpipe", mistaken) == "mismatch");
}

TEST_CASE("wrong: every output has tag 0, where the index of its micro-batch is expected") {
  const std::string said = verdict_on_gpipe(
      "Gpipe", [](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
        Neighbours neighbours(p2p, buffers);
        for (int i = 0; i < m; ++i) neighbours.give_output(work.forward(0, i, neighbours.input(i, i)), 0);
      });
  CHECK(contains(said, "tag mismatch: rank "));
}

TEST_CASE("wrong: one message for all micro-batches") {
  const GpipeFunction one_batch = [](pipeline::StageWork& work, PointToPoint& p2p, int m,
                                     const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    const auto all_of = [&](int stage) {
      std::vector<at::Tensor> parts;
      for (int i = 0; i < m; ++i) parts.push_back(buffers(stage, i));
      return parts;
    };
    const auto received = [&](int stage, int src) {
      std::vector<at::Tensor> parts = all_of(stage);
      const at::Tensor all = at::cat(parts);
      p2p.recv(all, src);
      std::int64_t begin = 0;
      for (at::Tensor& part : parts) {
        part = all.narrow(0, begin, part.size(0)).clone();
        begin += part.size(0);
      }
      return parts;
    };
    std::vector<at::Tensor> inputs(static_cast<std::size_t>(m)), outputs, grads(inputs), input_grads;
    if (!neighbours.first()) inputs = received(p2p.rank(), p2p.rank() - 1);
    for (int i = 0; i < m; ++i) outputs.push_back(work.forward(0, i, inputs[static_cast<std::size_t>(i)]));
    if (!neighbours.last()) p2p.send(at::cat(outputs), p2p.rank() + 1);
    if (!neighbours.last()) grads = received(p2p.rank() + 1, p2p.rank() + 1);
    for (int i = 0; i < m; ++i) input_grads.push_back(work.backward(0, i, grads[static_cast<std::size_t>(i)]));
    if (!neighbours.first()) p2p.send(at::cat(input_grads), p2p.rank() - 1);
  };
  CHECK(verdict_on_gpipe("Gpipe", one_batch) == "1 messages sent of optC.gpipe, expected at least 4");
  CHECK(verdict_on_gpipe("GpipeOneMicroBatch", one_batch) == "passed");
}

TEST_CASE("wrong: no micro-batch begins before the one before it is back") {
  const GpipeFunction one_by_one = [](pipeline::StageWork& work, PointToPoint& p2p, int m,
                                      const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    for (int i = 0; i < m; ++i) {
      neighbours.give_output(work.forward(0, i, neighbours.input(i, i)), i);
      neighbours.give_input_grad(work.backward(0, i, neighbours.output_grad(i, i)), i);
    }
  };
  for (const char* name : {"GpipeAlone", "Gpipe", "GpipeRecompute"})
    CHECK(verdict_on_gpipe(name, one_by_one) == "mismatch");
  CHECK(verdict_on_gpipe("GpipeOneMicroBatch", one_by_one) == "passed");
}

TEST_CASE("wrong: no output leaves before the last micro-batch is computed, so that one stage works at a time") {
  const GpipeFunction late = [](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    std::vector<at::Tensor> outputs, input_grads;
    for (int i = 0; i < m; ++i) outputs.push_back(work.forward(0, i, neighbours.input(i, i)));
    for (int i = 0; i < m; ++i) neighbours.give_output(outputs[static_cast<std::size_t>(i)], i);
    for (int i = 0; i < m; ++i) input_grads.push_back(work.backward(0, i, neighbours.output_grad(i, i)));
    for (int i = 0; i < m; ++i) neighbours.give_input_grad(input_grads[static_cast<std::size_t>(i)], i);
  };
  CHECK(verdict_on_gpipe("Gpipe", late) == "passed");  // too small for that
  const std::string said = verdict_on_gpipe("GpipeLong", late);
  CHECK(contains(said, "one stage at work at a time: 1.1 of 2 stages idle"));
  CHECK(contains(said, "one stage at work at a time: 3.1 of 4 stages idle"));
}

/// A pass of 1F1B's or interleaved's case in another order of work.
TaskCall in_order(const GpipeFunction& order) {
  return [order](Communicator& comm, const CaseInputs& inputs) {
    CaseInputs changed = inputs;
    changed.numbers["schedule"] = 0;  // gpipe: the function below
    return pass_trial(comm, changed, order);
  };
}

GpipeFunction one_micro_batch_at_a_time() {
  return [](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    for (int i = 0; i < m; ++i) {
      neighbours.give_output(work.forward(0, i, neighbours.input(i, i)), i);
      neighbours.give_input_grad(work.backward(0, i, neighbours.output_grad(i, i)), i);
    }
  };
}

/// Interleaved's chunks, each micro-batch through all of them before the next one begins.
GpipeFunction one_micro_batch_through_all_chunks(int num_chunks) {
  return [num_chunks](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
    const int p = p2p.size(), last_stage = p * num_chunks - 1;
    const int next = (p2p.rank() + 1) % p, previous = (p2p.rank() + p - 1) % p;
    for (int i = 0; i < m; ++i) {
      for (int chunk = 0; chunk < num_chunks; ++chunk) {
        const int stage = chunk * p + p2p.rank();
        at::Tensor input;
        if (stage > 0) p2p.recv(input = buffers(stage, i), previous, stage);
        const at::Tensor output = work.forward(chunk, i, input);
        if (stage < last_stage) p2p.send(output, next, stage + 1);
      }
      for (int chunk = num_chunks - 1; chunk >= 0; --chunk) {
        const int stage = chunk * p + p2p.rank();
        at::Tensor grad;
        if (stage < last_stage) p2p.recv(grad = buffers(stage + 1, i), next, stage + 1);
        const at::Tensor input_grad = work.backward(chunk, i, grad);
        if (stage > 0) p2p.send(input_grad, previous, stage);
      }
    }
  };
}

/// With what the stages themselves say of their live micro-batches left out.
std::string verdict_without_counts(const std::string& case_name, const TaskCall& call, int num_ranks) {
  std::vector<Case> cases = all_cases();
  for (Case& test_case : cases) {
    if (test_case.name != case_name) continue;
    test_case.expected = [expected = test_case.expected](const CasePlace& place) {
      TensorMap results = expected(place);
      results.erase("most_live");
      return results;
    };
  }
  return testing::verdict(
      cases, case_name,
      [&](Communicator& comm, const CaseInputs& inputs) {
        TensorMap results = call(comm, inputs);
        results.erase("most_live");
        return results;
      },
      num_ranks);
}

TEST_CASE("wrong: 1F1B and interleaved one micro-batch at a time: numbers and messages are right") {
  const TaskCall one_by_one = in_order(one_micro_batch_at_a_time());
  const TaskCall through_all = in_order(one_micro_batch_through_all_chunks(2));
  for (const int num_ranks : {2, 4}) {
    CAPTURE(num_ranks);
    CHECK(verdict_without_counts("OneForwardOneBackward", one_by_one, num_ranks) == "passed");  // too small for that
    CHECK(verdict_without_counts("Interleaved", through_all, num_ranks) == "passed");
    CHECK(contains(verdict_without_counts("OneForwardOneBackwardLong", one_by_one, num_ranks),
                   "one stage at work at a time: "));
    CHECK(contains(verdict_without_counts("InterleavedLong", through_all, num_ranks), "one stage at work at a time: "));
  }
}

TEST_CASE("wrong: all forward, all backward in 1F1B's place holds too much, as its memory shows") {
  const TaskCall all_forward = in_order(gpipe);
  for (const int num_ranks : {2, 4}) {
    CAPTURE(num_ranks);
    CHECK(contains(verdict_without_counts("OneForwardOneBackwardLong", all_forward, num_ranks),
                   " of one process's memory ("));
  }
}

/// What a stage does wrong with its live micro-batches.
enum class Habit {
  kNothing,           ///< as the reference
  kEverything,        ///< every micro-batch's graph, in a vector, until the end
  kCopies,            ///< a copy of every input and output
  kActivations,       ///< with recomputation, the graph as well
  kNothingRecomputes  ///< recomputes although it is not told to
};

/// PipelineStages again, of the last kind.
class KeepingStages : public WholePasses {
 public:
  KeepingStages(const StagePlan& plan, const Parameters& weights, bool recompute, const MicroBatchData& batch,
                Communicator& comm, Habit habit)
      : batch_(batch), habit_(habit), recompute_(recompute || habit == Habit::kNothingRecomputes) {
    for (Parameters& of_chunk : by_chunk(plan, comm.rank(), weights)) {
      const int stage = plan.numbers().stage_of(comm.rank(), static_cast<int>(chunks_.size()));
      chunks_.push_back({ModelStage(plan, stage), std::move(of_chunk), {}});
    }
  }

  at::Tensor forward(int chunk, int i, const at::Tensor& input) override {
    Chunk& self = chunks_[static_cast<std::size_t>(chunk)];
    Live& one = self.live[i];
    one.input = self.stage.input(input);
    one.function = self.stage.training(self.weights, batch_, i);
    at::Tensor output;
    if (recompute_ && habit_ != Habit::kActivations) {
      const c10::NoGradGuard no_graph;
      output = one.function(one.input);
    } else {
      one.output = output = one.function(one.input.requires_grad_());
    }
    if (habit_ == Habit::kEverything) kept_.push_back(output);
    if (habit_ == Habit::kCopies) kept_.insert(kept_.end(), {one.input.detach().clone(), output.detach().clone()});
    if (self.stage.is_last()) loss_ += output.item<double>();
    return output.detach();
  }

  at::Tensor backward(int chunk, int i, const at::Tensor& output_grad) override {
    Chunk& self = chunks_[static_cast<std::size_t>(chunk)];
    Live one = std::move(self.live.at(i));
    self.live.erase(i);
    if (recompute_) one.output = one.function(one.input.requires_grad_());
    one.output.backward(output_grad, /*retain_graph=*/habit_ == Habit::kEverything);
    return one.input.grad();
  }

  std::size_t num_live(int chunk) const { return chunks_[static_cast<std::size_t>(chunk)].live.size(); }
  double loss() const { return loss_; }

 private:
  struct Live {
    at::Tensor input, output;
    StageFunction function;
  };
  struct Chunk {
    ModelStage stage;
    Parameters weights;
    std::map<int, Live> live;
  };

  const MicroBatchData& batch_;
  const Habit habit_;
  const bool recompute_;
  std::vector<Chunk> chunks_;
  std::vector<at::Tensor> kept_;
  double loss_ = 0;
};

TaskCall with_stages(Habit habit) {
  const MakeStages make = [habit](const StagePlan& plan, const Parameters& weights, bool recompute,
                                  const MicroBatchData& batch, Communicator& comm) -> StagesUnderTest {
    const auto stages = std::make_shared<KeepingStages>(plan, weights, recompute, batch, comm, habit);
    return {stages, [stages](int chunk) { return stages->num_live(chunk); }, [stages] { return stages->loss(); }};
  };
  return [make](Communicator& comm, const CaseInputs& inputs) { return pass_trial(comm, inputs, gpipe, make); };
}

TEST_CASE("right: the same stages, which keep nothing that they need not") {
  for (const char* name : {"Gpipe", "GpipeLong", "GpipeRecomputeLong", "OneForwardOneBackwardLong", "InterleavedLong",
                           "GpipeFloat32", "OneForwardOneBackwardFloat32"})
    CHECK(gpipe_verdict(name, with_stages(Habit::kNothing)) == "passed");
}

TEST_CASE("wrong: 1F1B's graphs are kept until the end, which the stages' own count does not show") {
  for (const int num_ranks : {2, 4}) {
    CAPTURE(num_ranks);
    CHECK(
        contains(testing::verdict(all_cases(), "OneForwardOneBackwardLong", with_stages(Habit::kEverything), num_ranks),
                 " of one process's memory ("));
  }
  CHECK(contains(testing::verdict(all_cases(), "InterleavedLong", with_stages(Habit::kEverything), 4),
                 " of one process's memory ("));
}

TEST_CASE("wrong: GPipe keeps copies of all inputs and outputs next to its graphs") {
  for (const int num_ranks : {3, 4}) {
    CAPTURE(num_ranks);
    CHECK(contains(testing::verdict(all_cases(), "GpipeLong", with_stages(Habit::kCopies), num_ranks),
                   " of one process's memory ("));
  }
}

TEST_CASE("wrong: recomputation that keeps all activations, in a pipeline") {
  for (const int num_ranks : {2, 4}) {
    CAPTURE(num_ranks);
    CHECK(contains(testing::verdict(all_cases(), "GpipeRecomputeLong", with_stages(Habit::kActivations), num_ranks),
                   " of one process's memory ("));
  }
}

TEST_CASE("wrong: recomputation where nobody asked for it is a third more work") {
  for (const char* name : {"GpipeLong", "OneForwardOneBackwardLong", "InterleavedLong"}) {
    CHECK(contains(testing::verdict(all_cases(), name, with_stages(Habit::kNothingRecomputes), 4),
                   " of one process's work ("));
  }
}

TEST_CASE("wrong: buffers of float64 whatever is sent: only float32 shows it") {
  const GpipeFunction in_float64 = [](pipeline::StageWork& work, PointToPoint& p2p, int m,
                                      const pipeline::Buffers& buffers) {
    gpipe(work, p2p, m, [&](int stage, int i) { return at::empty(buffers(stage, i).sizes(), at::kDouble); });
  };
  CHECK(verdict_on_gpipe("Gpipe", in_float64) == "passed");
  CHECK(contains(verdict_on_gpipe("GpipeFloat32", in_float64), "dtype mismatch: rank "));
}

TEST_CASE("wrong: every message is sent twice, to be on the safe side") {
  const GpipeFunction twice = [](pipeline::StageWork& work, PointToPoint& p2p, int m,
                                 const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    for (int i = 0; i < m; ++i) {
      neighbours.input(i, i);
      const at::Tensor output = work.forward(0, i, neighbours.input(i, i));
      for (int turn = 0; turn < 2; ++turn) neighbours.give_output(output, i);
    }
    for (int i = 0; i < m; ++i) {
      neighbours.output_grad(i, i);
      const at::Tensor grad = work.backward(0, i, neighbours.output_grad(i, i));
      for (int turn = 0; turn < 2; ++turn) neighbours.give_input_grad(grad, i);
    }
  };
  CHECK(contains(verdict_on_gpipe("GpipeAlone", twice), " messages sent of optC.gpipe, expected at most "));
  CHECK(contains(verdict_on_gpipe("Gpipe", twice), " messages sent of optC.gpipe, expected at most "));
}

TEST_CASE("wrong: the last micro-batch is forgotten on the way back") {
  const GpipeFunction forgetful = [](pipeline::StageWork& work, PointToPoint& p2p, int m,
                                     const pipeline::Buffers& buffers) {
    Neighbours neighbours(p2p, buffers);
    for (int i = 0; i < m; ++i) neighbours.give_output(work.forward(0, i, neighbours.input(i, i)), i);
    for (int i = 0; i + 1 < m; ++i) neighbours.give_input_grad(work.backward(0, i, neighbours.output_grad(i, i)), i);
  };
  for (const char* name : {"GpipeAlone", "Gpipe"}) CHECK(verdict_on_gpipe(name, forgetful) == "mismatch");
}

TEST_CASE("wrong: a stage uses ones in the place of the gradient that it receives") {
  CHECK(verdict_on_gpipe("Gpipe",
                         [](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
                           Neighbours neighbours(p2p, buffers);
                           for (int i = 0; i < m; ++i)
                             neighbours.give_output(work.forward(0, i, neighbours.input(i, i)), i);
                           for (int i = 0; i < m; ++i) {
                             const at::Tensor grad = neighbours.output_grad(i, i);
                             if (grad.defined()) grad.fill_(1);
                             neighbours.give_input_grad(work.backward(0, i, grad), i);
                           }
                         }) == "mismatch");
}

TEST_CASE("wrong: all receives come first, so that every stage but the first waits for the one before it") {
  const std::string said = verdict_on_gpipe(
      "Gpipe", [](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
        Neighbours neighbours(p2p, buffers);
        for (int i = 0; i < m; ++i) {
          const at::Tensor output = work.forward(0, i, neighbours.input(i, i));
          const at::Tensor grad = neighbours.output_grad(i, i);  // of an output that was never sent
          neighbours.give_output(output, i);
          neighbours.give_input_grad(work.backward(0, i, grad), i);
        }
      });
  CHECK(contains(said, "deadlock: rank "));
}

}  // namespace
}  // namespace lab::optc
