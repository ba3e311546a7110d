#include <cstdlib>
#include <deque>

#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/pipeline_communicate.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/checks/check_report.h"
#include "common/checks/check_run.h"
#include "common/pipeline/generators.h"
#include "common/rank/measured_use.h"
#include "common/testing/case_runs.h"
#include "common/testing/test.h"

// Whether the stages of a pipeline compute at the same time, in model time.
namespace lab::a5 {
namespace {

using testing::contains;

/// The handout's messages and results, in another order of work. `most_under_way`: so many micro-batches may have gone
/// forward and not yet backward; `sends_late`: outputs are sent once all micro-batches have gone forward.
struct Order {
  std::int64_t most_under_way = 1;
  bool sends_late = false;
};

/// One stage, with the messages in place as in the handout's loop.
class OtherLoop {
 public:
  OtherLoop(const PipelineArguments& arguments, Communicator& comm)
      : arguments_(arguments),
        p2p_(comm.point_to_point()),
        stage_(arguments, distribute_layers(arguments.number_of_layers, comm.rank(), comm.size())),
        data_(comm.rank() == 0 ? DataLoader(arguments) : DataLoader::none(arguments)) {}

  TensorMap run(const Order& order, const CaseInputs& inputs, const Communicator& comm) {
    for (std::int64_t i = 0; i < arguments_.number_of_micro_batches(); ++i) {
      forward();
      if (!order.sends_late) send_outputs();
      if (static_cast<std::int64_t>(inputs_.size()) == order.most_under_way) backward();
    }
    send_outputs();
    while (!inputs_.empty()) backward();
    PipelineResult result;
    if (is_last()) result.outputs = results_;
    result.gradients = stage_.model().gradients();
    return collect_results(result, inputs, comm);
  }

 private:
  bool is_last() const { return p2p_.rank() == p2p_.size() - 1; }

  void forward() {
    at::Tensor input = pipeline_communicate(PipelineOperation::kRecvForward, p2p_, arguments_);
    if (p2p_.rank() == 0) input = data_.next().requires_grad_();
    const at::Tensor output = stage_.forward(input);
    results_.push_back(output.detach());
    inputs_.push_back(input);
    outputs_.push_back(output);
  }

  void send_outputs() {
    for (; num_sent_ < results_.size(); ++num_sent_)
      pipeline_communicate(PipelineOperation::kSendForward, p2p_, arguments_, results_[num_sent_]);
  }

  void backward() {
    const at::Tensor output_grad = pipeline_communicate(PipelineOperation::kRecvBackward, p2p_, arguments_);
    const at::Tensor output = outputs_.front();
    const at::Tensor input_grad = stage_.backward(inputs_.front(), is_last() ? output.mean() : output, output_grad);
    pipeline_communicate(PipelineOperation::kSendBackward, p2p_, arguments_, input_grad);
    inputs_.pop_front();
    outputs_.pop_front();
  }

  const PipelineArguments& arguments_;
  PointToPoint& p2p_;
  PipelineStage stage_;
  DataLoader data_;
  std::deque<at::Tensor> inputs_, outputs_;
  std::vector<at::Tensor> results_;
  std::size_t num_sent_ = 0;
};

TaskCall call_with(const Order& order) {
  return [order](Communicator& comm, const CaseInputs& inputs) {
    const PipelineArguments arguments = make_arguments(inputs);
    return OtherLoop(arguments, comm).run(order, inputs, comm);
  };
}

std::string verdict(const Order& order, int num_ranks) {
  return testing::verdict(all_cases(), "AllForwardAllBackwardLong", call_with(order), num_ranks);
}

TEST_CASE("one stage after the other is refused, although all results and messages are right") {
  for (const int num_ranks : {2, 3, 4, 6, 8}) {
    CAPTURE(num_ranks);
    const std::string one_by_one = verdict({1}, num_ranks);
    CHECK(contains(one_by_one, "one stage at work at a time: "));
    CHECK(contains(one_by_one, fmt::format(" of {} stages idle", num_ranks)));
    // On fewer it takes no longer than what the bound leaves room for.
    if (num_ranks >= 4) CHECK(contains(verdict({1000, true}, num_ranks), " stages idle"));
  }
  CHECK(contains(verdict({1}, 4), "3.1 of 4 stages idle"));
}

TEST_CASE("the suite's README quotes what lab check says of that") {
  const std::string task = "a5.all_forward_all_backward";
  const std::vector<TaskOutcome> checks =
      make_outcomes(run_checks(named_cases(all_cases(), task, "check"), {{task, call_with({1})}}, threads(4), 1234));
  REQUIRE(checks.size() == 1);
  std::string quoted;
  for (const std::string& line : list_lines(check_text(checks.front()))) quoted += "    " + line;
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  CAPTURE(quoted);
  CHECK(contains(read_file(std::string(source_dir) + "/README.md"), quoted));
}

TEST_CASE("all forward, then all backward is accepted, on one rank any order") {
  for (const int num_ranks : {2, 3, 4, 6, 8}) {
    CAPTURE(num_ranks);
    CHECK(verdict({1000}, num_ranks) == "passed");
  }
  CHECK(verdict({1}, 1) == "passed");
}

/// The model time of the pipeline in a world, in picoseconds.
std::int64_t bound_model_time(const PipelineArguments& arguments, const pipeline::ScheduleOptions& options,
                              const launch::WorldSpec& spec) {
  std::int64_t latest = 0;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
                          const ResourceUse used = measured_use(
                              comm, [&] { run_scheduled_pipeline(arguments, pipeline::make_schedule(options), comm); });
                          own.report.parts.push_back({"pipeline", used, {}});
                        }));
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks)
    latest = std::max(latest, rank.report.parts.at(0).used.model_time.total);
  return latest;
}

/// 12 equal layers that compute for long.
PipelineArguments twelve_layers() {
  PipelineArguments arguments;
  arguments.number_of_layers = 12;
  arguments.sequence_length = 64;
  arguments.hidden_size = 128;
  arguments.intermediate_size = 512;
  return arguments;
}

TEST_CASE("1F1B takes 11/32 of the time of one process: 12 equal layers, 4 ranks, 8 micro-batches") {
  const PipelineArguments arguments = twelve_layers();
  const std::int64_t product = 2 * 2 * 64 * 128 * 512;  // of the rows of a micro-batch
  const std::int64_t serial_ps = 100 * 8 * 12 * 6 * product;
  const std::int64_t ps = bound_model_time(arguments, {"1f1b", 4, 8}, threads(4));
  CHECK(static_cast<double>(serial_ps) / static_cast<double>(ps) == doctest::Approx(32.0 / 11).epsilon(0.01));
}

TEST_CASE("the model time of a pipeline is the same in every run and in every world") {
  PipelineArguments arguments = twelve_layers();
  arguments.hidden_size = 16;
  const pipeline::ScheduleOptions options = {"interleaved", 4, 8, 3};
  const std::int64_t once = bound_model_time(arguments, options, threads(4));
  for (int run = 0; run < 3; ++run) CHECK(bound_model_time(arguments, options, threads(4)) == once);
  launch::WorldSpec relay = threads(4);
  relay.kind = launch::WorldKind::kRelay;
  relay.shake_seed = 7;
  CHECK(bound_model_time(arguments, options, relay) == once);
}

}  // namespace
}  // namespace lab::a5
