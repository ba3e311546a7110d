#include "a5_pipeline/commands/main_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/commands/schedules.h"
#include "a5_pipeline/comparisons.h"
#include "a5_pipeline/data_loader.h"
#include "common/api/compare.h"
#include "common/api/partition.h"
#include "common/comm/lone_work.h"
#include "common/rank/measured_use.h"

namespace lab::a5 {
namespace {

constexpr const char* kBaselineLine = "Baseline, in one process: number of layers {index}, of micro-batches {index}.";
constexpr const char* kPipelineLine =
    "Pipeline (pp {index}, schedule {word}, {word}): outputs and gradients, to {number:.2g} of the baseline's norm.";
constexpr const char* kLayersLine = "has layers {word}";
constexpr const char* kOutputs = "Outputs";  // the prefixes of match lines
constexpr const char* kLayer = "Layer{index}";
constexpr double kMaxDiff = 1e-4;  // 5 times the tolerance at the default sizes (comparisons.h): values are below 5

/// The rank that has the layer.
int find_owner(std::int64_t layer, const PipelineArguments& arguments, const pipeline::Schedule& schedule) {
  for (int stage = 0; stage < schedule.num_stages(); ++stage) {
    if (layer < uneven_slice(arguments.number_of_layers, schedule.num_stages(), stage).end())
      return schedule.rank_of_stage(stage);
  }
  return schedule.num_ranks - 1;
}

std::string layers_of_rank(const PipelineArguments& arguments, const pipeline::Schedule& schedule, int rank) {
  std::vector<std::string> parts;
  for (int chunk = 0; chunk < schedule.num_chunks; ++chunk) {
    const Slice slice =
        uneven_slice(arguments.number_of_layers, schedule.num_stages(), schedule.find_stage(rank, chunk));
    parts.push_back(slice.size == 1 ? fmt::format("{}", slice.begin)
                                    : fmt::format("{}-{}", slice.begin, slice.end() - 1));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

/// This rank's view of the baseline: rank 0 has it, and sends each tensor to its owner.
class BaselineReader {
 public:
  BaselineReader(RankRun& run, const BaselineFile& baseline) : run_(run), baseline_(baseline) {}

  /// The tensor on the owner; undefined elsewhere. Every rank calls it for every tensor, in the same order.
  at::Tensor read(const std::string& name, int owner, at::IntArrayRef shape, const PipelineArguments& arguments) {
    const int rank = run_.comm.rank();
    PointToPoint& p2p = run_.comm.point_to_point();
    if (rank == 0 && owner == 0) return baseline_.read(name);
    if (rank == 0) p2p.send(baseline_.read(name), owner);
    if (rank != owner) return {};
    at::Tensor received = at::empty(shape, arguments.dtype);
    p2p.recv(received, 0);
    return received;
  }

 private:
  RankRun& run_;
  const BaselineFile& baseline_;
};

/// Compares one after the other, so that only one expected tensor is in memory, and reports all as one line.
class Verdict {
 public:
  Verdict(RankRun& run, const std::string& name, const PipelineArguments& arguments)
      : run_(run), tolerance_(tolerance_of(arguments)) {
    the_case_.name = the_case_.prefix = name;
  }

  void add(const std::string& name, const at::Tensor& actual, const at::Tensor& expected) {
    if (actual.defined()) {
      all_.add(compare(actual.cpu(), expected, tolerance_), expected.numel());
    } else {
      all_.add_missing(expected.numel());
    }
    if (run_.options.save_dir.empty()) return;
    result_.expected[name] = expected;
    result_.record.results[name] = actual;
  }

  /// An input from which the results can be recomputed, for --save.
  void add_input(const std::string& name, const at::Tensor& tensor) {
    if (!run_.options.save_dir.empty()) result_.inputs.tensors[name] = tensor.detach();
  }

  void report() {
    result_.comparison = all_.result();
    run_.report(the_case_, result_);
  }

 private:
  RankRun& run_;
  const Tolerance tolerance_;
  Case the_case_;
  CaseResult result_;
  CombinedComparison all_;
};

void compare_outputs(RankRun& run, const PipelineArguments& arguments, const std::vector<at::Tensor>& outputs,
                     BaselineReader& reader) {
  const int last = run.comm.size() - 1;
  const auto num_expected = static_cast<std::size_t>(arguments.number_of_micro_batches());
  const std::size_t num_here = run.comm.rank() == last ? num_expected : 0;
  if (outputs.size() != num_here) {
    throw ContractError(fmt::format("expected {} outputs, one per micro-batch on the last stage only, got {}", num_here,
                                    outputs.size()));
  }
  Verdict verdict(run, kOutputs, arguments);
  for (std::size_t i = 0; i < num_expected; ++i) {
    const std::string name = fmt::format("output{}", i);
    const at::Tensor expected = reader.read(name, last, arguments.activation_shape(), arguments);
    if (run.comm.rank() == last) verdict.add(name, outputs[i], expected);
  }
  if (run.comm.rank() == last) verdict.report();
}

/// Saves the data, in the file of the rank that fetched them.
void save_data(RankRun& run, const PipelineArguments& arguments) {
  if (run.options.save_dir.empty() || run.comm.rank() != 0) return;
  const DataLoader data(arguments);
  for (std::int64_t i = 0; i < data.size(); ++i)
    run.saved[fmt::format("Outputs.input.micro_batch{}", i)] = data.micro_batch(i);
}

void compare_layer(RankRun& run, const PipelineArguments& arguments, std::int64_t layer, int owner,
                   const PipelineResult& result, BaselineReader& reader) {
  Verdict verdict(run, log::filled(kLayer, layer), arguments);
  for (const bool is_first : {true, false}) {
    const std::string name = fmt::format("layer{}.{}", layer, is_first ? "fc1" : "fc2");
    std::vector<std::int64_t> shape = {arguments.intermediate_size, arguments.hidden_size};
    if (!is_first) std::swap(shape[0], shape[1]);
    const at::Tensor expected = reader.read(name, owner, shape, arguments);
    if (run.comm.rank() != owner) continue;
    const auto found = result.gradients.find(name);
    verdict.add(name, found == result.gradients.end() ? at::Tensor() : found->second, expected);
    const auto weight = result.weights.find(name);
    if (weight != result.weights.end()) verdict.add_input("weight." + name, weight->second);
  }
  if (run.comm.rank() == owner) verdict.report();
}

/// Rank 0 runs the baseline, once, while the others wait.
void make_baseline(RankRun& run, const LabOptions& options, BaselineFile& baseline) {
  std::function<void(const comm::ReportProgress&)> work;
  if (run.comm.rank() == 0 && baseline.empty()) {
    work = [&](const comm::ReportProgress& report) { baseline = run_baseline(options.arguments, report); };
  }
  comm::work_while_others_wait(run.comm.collectives(), work);
}

/// The lines of compare_with_baseline().
void expect_comparison(log::LogExpectation& log, const LabOptions& options) {
  const PipelineArguments& arguments = options.arguments;
  const pipeline::Schedule schedule = model_schedule(arguments, options.schedule, options.num_chunks, log.num_ranks());
  log.add(0, log::rank_text(kBaselineLine));
  log.add(0, log::rank_text(kPipelineLine));
  for (int rank = 0; rank < log.num_ranks(); ++rank)
    log.add(rank, log::rank_text(log::filled(kLayersLine, layers_of_rank(arguments, schedule, rank))));
  log.add(log.num_ranks() - 1, log::ExpectedMatch{kOutputs, true, kMaxDiff, "", ""});
  for (std::int64_t layer = 0; layer < arguments.number_of_layers; ++layer) {
    log.add(find_owner(layer, arguments, schedule),
            log::ExpectedMatch{log::filled(kLayer, layer), true, kMaxDiff, "", ""});
  }
}

}  // namespace

void compare_with_baseline(RankRun& run, const LabOptions& options, const BaselineFile& baseline) {
  PipelineArguments arguments = options.arguments;
  arguments.device = run.device;
  const pipeline::Schedule schedule = model_schedule(arguments, options.schedule, options.num_chunks, run.comm.size());
  if (run.comm.rank() == 0) {
    run.print(kBaselineLine, arguments.number_of_layers, arguments.number_of_micro_batches());
    run.print(kPipelineLine, run.comm.size(), options.schedule, options.dtype, tolerance_of(arguments).relative_norm);
  }
  run.print(kLayersLine, layers_of_rank(arguments, schedule, run.comm.rank()));
  PipelineResult result;
  const ResourceUse used = measured_use(run.comm, [&] {
    result = options.schedule == "afab" ? run_handout_pipeline(arguments, run.comm)
                                        : run_scheduled_pipeline(arguments, schedule, run.comm);
  });
  run.note_part("Pipeline " + options.schedule, used, baseline.used());
  BaselineReader reader(run, baseline);
  compare_outputs(run, arguments, result.outputs, reader);
  save_data(run, arguments);
  for (std::int64_t layer = 0; layer < arguments.number_of_layers; ++layer)
    compare_layer(run, arguments, layer, find_owner(layer, arguments, schedule), result, reader);
}

std::vector<LabStep> program_steps(const LabOptions& options, BaselineFile& baseline) {
  LabStep comparison;
  comparison.run = [&](RankRun& run) {
    make_baseline(run, options, baseline);
    compare_with_baseline(run, options, baseline);
  };
  comparison.expect = [&](log::LogExpectation& log) { expect_comparison(log, options); };
  if (options.no_cases) return {announcement(), comparison, done()};
  return {announcement(), checks(sections_before_comparison()), comparison, checks(sections_after_comparison()),
          done()};
}

}  // namespace lab::a5
