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
