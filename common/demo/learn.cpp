#include <fmt/format.h>

#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/comm/messages/model_time.h"
#include "common/demo/commands.h"
#include "common/demo/stage.h"
#include "common/launch/run_ranks.h"
#include "common/log/sharing.h"
#include "common/pipeline/generators.h"
#include "common/plot/plot.h"
#include "common/rank/measured_use.h"
#include "common/tensor/compute_threads.h"

namespace lab::demo {
namespace {

constexpr int kNumRanks = 4;
constexpr double kLearningRate = 0.01;

struct LearnOptions {
  int num_steps = 20;
  double timeout_seconds = 10;
  std::string out_dir;
};

using Losses = std::vector<double>;

Losses learn_alone(Stage& model, const Sizes& sizes, int num_steps) {
  Losses losses;
  for (int step = 0; step < num_steps; ++step) {
    for (int i = 0; i < sizes.num_micro_batches; ++i) {
      model.forward(0, i, {});
      model.backward(0, i, {});
    }
    losses.push_back(model.update(kLearningRate));
  }
  return losses;
}

/// Each micro-batch goes forward and backward through all stages before the next one starts.
pipeline::Schedule one_by_one(int num_micro_batches) {
  pipeline::Schedule schedule = pipeline::make_schedule({"afab", kNumRanks, 1});
  schedule.kind = "one by one";
  schedule.num_micro_batches = num_micro_batches;
  for (std::vector<pipeline::Action>& list : schedule.ranks) {
    const std::vector<pipeline::Action> once = std::exchange(list, {});
    for (int i = 0; i < num_micro_batches; ++i) {
      for (pipeline::Action action : once) {
        action.micro_batch = i;
        list.push_back(action);
      }
    }
  }
  return schedule;
}

/// What a run in one process and one in a pipeline have left.
struct Learned {
  Losses alone, pipelined;
  log::Sharing sharing;
  std::vector<comm::TraceEvent> trace;
};

/// Rank r has the r-th quarter of the layers; rank 0 then learns alone, too, with all of them.
void learn_on_rank(const Sizes& sizes, const pipeline::Schedule& schedule, int num_steps, Communicator& comm,
                   launch::RankOutcome& own) {
  const int share = sizes.num_layers / kNumRanks, begin = comm.rank() * share;
  const pipeline::Buffers buffers = pipeline::same_buffers({sizes.rows, sizes.width}, at::kFloat);
  Stage stage(sizes, begin, begin + share, &get_endpoint(comm));
  Losses losses;
  log::PartReport part{schedule.kind, {}, {}};
  part.used = measured_use(comm, [&] {
    for (int step = 0; step < num_steps; ++step) {
      run_schedule(schedule, comm.point_to_point(), stage, buffers);
      losses.push_back(stage.update(kLearningRate));
    }
  });
  if (comm.rank() == 0) {
    Stage model(sizes, 0, sizes.num_layers, nullptr);
    part.of_one_process = measured_use_of_one_process([&] { losses = learn_alone(model, sizes, num_steps); });
  }
  own.report.parts.push_back(part);
  own.tensors["losses"] = at::tensor(losses, at::kDouble);
}

/// Errors    those of the run
Learned learn_in_pipeline(const Sizes& sizes, const pipeline::Schedule& schedule, int num_steps,
                          const launch::WorldSpec& spec) {
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
                          learn_on_rank(sizes, schedule, num_steps, comm, own);
                        }));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  Learned learned;
  std::vector<log::RankReport> reports;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    reports.push_back(rank.report);
    learned.trace.insert(learned.trace.end(), rank.trace.begin(), rank.trace.end());
  }
  const auto numbers = [](const launch::RankOutcome& rank) {
    const at::Tensor& losses = rank.tensors.at("losses");
    return Losses(losses.data_ptr<double>(), losses.data_ptr<double>() + losses.numel());
  };
  learned.alone = numbers(outcome.ranks.front());
  learned.pipelined = numbers(outcome.ranks.back());
  learned.sharing = log::describe_sharing(reports).at(0);
  return learned;
}

void print_curve(const Learned& learned) {
  fmt::print("{:>5}  {:>12}  {:>12}\n", "step", "one process", "4 ranks");
  constexpr std::size_t kNumGaps = 5;
  const std::size_t last = learned.alone.size() - 1;
  std::set<std::size_t> steps;
  for (std::size_t i = 0; i <= kNumGaps; ++i) steps.insert(i * last / kNumGaps);
  for (const std::size_t step : steps)
    fmt::print("{:>5}  {:>12.6f}  {:>12.6f}\n", step + 1, learned.alone[step], learned.pipelined[step]);
}

std::string curve_file(const std::string& folder) {
  return folder + "/learning_curve.png";
}

void draw_curve(const Learned& learned, const std::string& path) {
  Losses steps(learned.alone.size());
  std::iota(steps.begin(), steps.end(), 1.0);
  plot::Chart chart;
  chart.title = "A model of 8 layers learns: in one process, and in a pipeline of 4";
  chart.x = {"step"};
  chart.y = {"mean square error of the batch"};
  plot::Series alone{"one process", steps, learned.alone}, pipelined{"4 ranks", steps, learned.pipelined};
  alone.colour = plot::kGrey;
  pipelined.colour = plot::colour(0);
  pipelined.line = false;
  chart.series = {alone, pipelined};
  plot::draw(chart, path);
  fmt::print("drawn: {}\n", path);
}

/// The curve, and for each schedule one step of it.
void draw(const Learned& learned, const std::vector<pipeline::Schedule>& schedules, const std::string& folder,
          launch::WorldSpec spec) {
  const std::string missing = plot::missing_program();
  if (!missing.empty()) {
    fmt::print("no pictures in {}: {}\n", folder, missing);
    return;
  }
  draw_curve(learned, curve_file(folder));
  spec.traced = true;
  for (const pipeline::Schedule& schedule : schedules) {
    const std::string path = fmt::format("{}/step_{}.png", folder, schedule.kind == "1f1b" ? "1f1b" : "one_by_one");
    comm::write_trace(path, learn_in_pipeline({}, schedule, 1, spec).trace);
    fmt::print("drawn: {}\n", path);
  }
}

ExitCode learn(const LearnOptions& options) {
  use_threads(1);
  if (!options.out_dir.empty()) {
    make_folder("--out", options.out_dir);
    if (plot::missing_program().empty()) plot::check_chart_name(curve_file(options.out_dir));
  }
  const Sizes sizes;
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = kNumRanks;
  spec.timeout_seconds = options.timeout_seconds;
  const std::vector<pipeline::Schedule> schedules = {
      one_by_one(sizes.num_micro_batches), pipeline::make_schedule({"1f1b", kNumRanks, sizes.num_micro_batches})};

  std::vector<Learned> runs;
  for (const pipeline::Schedule& schedule : schedules)
    runs.push_back(learn_in_pipeline(sizes, schedule, options.num_steps, spec));
  print_curve(runs.back());
  bool same = true;
  for (const Learned& run : runs) same = same && run.alone == run.pipelined;
  fmt::print("the losses of {} are {}\n", counted(options.num_steps, "step"),
             same ? "equal, to the last bit" : "NOT equal");
  fmt::print("in model time ({}):\n", rates_text(spec.model_rates));
  for (const Learned& run : runs) fmt::print("  {:<10}  {}\n", run.sharing.name, get_text(run.sharing));

  if (!options.out_dir.empty()) draw(runs.back(), schedules, options.out_dir, spec);
  return same ? ExitCode::kAllMatch : ExitCode::kMismatch;
}

}  // namespace

void learn_command(cli::App& app) {
  auto& options = app.own(LearnOptions());
  app.add_integer("--steps", options.num_steps, {1, 10000}, "steps of gradient descent");
  app.add_text("--out", options.out_dir, "DIR", "folder of the pictures: the curve, and a step of each schedule");
  app.add_timeout(options.timeout_seconds);
  app.set_action([&] { return learn(options); });
}

}  // namespace lab::demo
