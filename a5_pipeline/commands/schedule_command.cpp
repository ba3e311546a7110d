#include <fmt/format.h>

#include "a5_pipeline/commands/commands.h"
#include "a5_pipeline/commands/schedules.h"
#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/timeline.h"
#include "common/pipeline/timeline_diagram.h"
#include "common/plot/plot.h"
#include "common/tensor/compute_threads.h"

namespace lab::a5 {
namespace {

using pipeline::Schedule;
using pipeline::Timeline;

struct ScheduleCommand {
  ScheduleCommand() { schedule.num_chunks = 0; }

  pipeline::ScheduleOptions schedule;
  bool blocking = false;
  double forward_ms = 1;
  double backward_ms = 2;
  double latency_us = 0;
  double gigabytes_per_second = 1.25;
  std::int64_t message_bytes = 64 << 10;
  bool messages_take_time = false;
  bool simulated = false;
  std::string platform = "star";
  bool messages = false;
  bool text_only = false;
  int columns = 120;
  std::string out_dir = "out";
  std::string plot_file;
  std::string format = "png";
};

void add_options(cli::App& app, ScheduleCommand& command) {
  pipeline::ScheduleOptions& schedule = command.schedule;
  app.add_choice("--kind", schedule.kind, pipeline::schedule_kinds(), "order of work");
  app.add_integer("--pp", schedule.num_ranks, {1, 1024}, "stages, one on each rank");
  app.add_integer("--micro-batches", schedule.num_micro_batches, {1, 4096}, "of a batch");
  app.add_integer("--chunks", schedule.num_chunks, {1, 64}, "of layers on each rank: 2 with interleaved, otherwise 1");
  app.add_flag("--blocking", command.blocking, "wait for each message where it is posted");
  app.add_number("--forward-ms", command.forward_ms, {0, 1e6, "MS"}, "a micro-batch's forward pass on a rank");
  app.add_number("--backward-ms", command.backward_ms, {0, 1e6, "MS"}, "its backward pass, of which half for weights");
  app.add_number("--latency", command.latency_us, {0, 1e9, "US"},
                 "alpha: microseconds per empty message; free by default");
  app.add_number("--bandwidth", command.gigabytes_per_second, {0, 1e6, "GBS"}, "1/beta: gigabytes (1e9) a second");
  app.add_bytes("--message-bytes", command.message_bytes, {0, std::int64_t{1} << 40},
                "of one micro-batch's activations");
  app.add_flag("--sim", command.simulated, "also carry it out on a simulated network");
  app.add_choice("--platform", command.platform, comm::platform_names(), "the simulated network");
  app.add_flag("--messages", command.messages, "also draw the messages");
  app.add_flag("--text", command.text_only, "print only, draw nothing");
  app.add_integer("--columns", command.columns, {40, 1000}, "width of the printed timeline");
  app.add_text("--out", command.out_dir, "DIR", "folder of the picture, schedule_<kind>_<pp>x<micro-batches>");
  app.add_text("--plot", command.plot_file, "FILE", "the picture (.png, .pdf, .svg) in another place");
  app.add_choice("--format", command.format, {"png", "svg", "pdf"}, "of the picture");
}

/// Fills in the defaults: two chunks for interleaved; messages are free unless their time is given.
void fill_in(const cli::App& app, ScheduleCommand& command) {
  pipeline::ScheduleOptions& schedule = command.schedule;
  if (schedule.num_chunks == 0) schedule.num_chunks = pipeline::usual_chunks(schedule.kind);
  schedule.waiting = command.blocking ? pipeline::Waiting::kBlocking : pipeline::Waiting::kLate;
  if (command.simulated && !app.given("--latency")) command.latency_us = 10;
  command.messages_take_time = command.simulated || app.given("--latency") || app.given("--bandwidth");
}

void print(const pipeline::Schedule& schedule, const pipeline::Timeline& timeline, const std::string& heading,
           const ScheduleCommand& command) {
  fmt::print("{}\n{}{}", heading, pipeline::timeline_text(schedule, timeline, command.columns),
             pipeline::timeline_summary(schedule, timeline, "s"));
}

/// A starter draws the messages of any schedule but that of the handout's Q7.
void check_not_asked_for(const ScheduleCommand& command) {
  // BEGIN SOLUTION a5.written_q7
  // STUB const pipeline::ScheduleOptions& asked = command.schedule;
  // STUB if (command.messages && asked.kind == "afab" && asked.num_ranks == 4 && asked.num_micro_batches == 8)
  // STUB   throw UsageError("schedule: afab of 4 x 8 with --messages is your sketch of Q7; hint: --pp 3");
  (void)command;
  // END SOLUTION a5.written_q7
}

ExitCode draw_schedule(const ScheduleCommand& command) {
  use_threads(1);
  check_not_asked_for(command);
  const pipeline::Schedule schedule = pipeline::make_schedule(command.schedule);
  pipeline::Costs costs = pipeline::even_costs(schedule, command.forward_ms * 1e-3, command.backward_ms * 0.5e-3,
                                               command.backward_ms * 0.5e-3);
  costs.latency_seconds = command.latency_us * 1e-6;
  costs.seconds_per_byte = command.messages_take_time ? 1e-9 / command.gigabytes_per_second : 0;
  costs.message_bytes = command.message_bytes;
  const std::string stem = fmt::format("{}/schedule_{}_{}x{}", command.out_dir, schedule.kind, schedule.num_ranks,
                                       schedule.num_micro_batches);
  const std::string picture = command.plot_file.empty() ? stem + "." + command.format : command.plot_file;
  if (!command.text_only) {
    if (command.plot_file.empty()) make_folder("--out", command.out_dir);
    plot::check_timeline_name(picture);
  }

  const pipeline::Timeline on_paper = pipeline::make_timeline(schedule, costs);
  pipeline::Timeline timeline = on_paper;
  if (command.simulated) {
    const comm::SimNetwork network = {command.platform, costs.latency_seconds, command.gigabytes_per_second * 1e9};
    timeline = simulate(schedule, costs, network);
  }
  print(schedule, on_paper,
        fmt::format("{}, {}, {}", schedule.kind, counted(schedule.num_ranks, "rank"),
                    counted(schedule.num_micro_batches, "micro-batch", "micro-batches")),
        command);
  if (command.simulated) {
    print(schedule, timeline,
          fmt::format("\non a simulated {}, {:g} us, {:g} GB/s, {} a message", command.platform, command.latency_us,
                      command.gigabytes_per_second, describe_bytes(static_cast<std::uint64_t>(command.message_bytes))),
          command);
  }
  if (command.text_only) return ExitCode::kAllMatch;
  plot::draw(pipeline::timeline_diagram(schedule, timeline, command.messages), picture);
  fmt::print("drawn: {}\n", picture);
  return ExitCode::kAllMatch;
}

}  // namespace

void schedule_command(cli::App& app) {
  auto& command = app.own(ScheduleCommand());
  add_options(app, command);
  app.set_action([&] {
    fill_in(app, command);
    return draw_schedule(command);
  });
}

}  // namespace lab::a5
