#include <fmt/format.h>

#include <cstdio>

#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/plot/plot.h"
#include "common/tensor/gpus.h"
#include "vae_sequence_parallel/cases/megabytes.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/commands/decoder_runs.h"

namespace lab::vae {
namespace {

struct MemoryTable {
  std::vector<double> ranks, activations, parameters, ideal;
};

/// The row that the others are compared with.
struct FirstRow {
  std::string name;  ///< "one process", or e.g. "P = 2" without a serial row
  int num_ranks = 1;
  std::int64_t activation_bytes = 0;
};

std::string table_line(const std::string& decoder, const DecoderCost& cost, const FirstRow& first) {
  return fmt::format("{:<10} {:>14.1f} {:>15.1f} {:>17.3f}", decoder, megabytes(cost.parameter_bytes),
                     megabytes(cost.activation_bytes),
                     static_cast<double>(cost.activation_bytes) / static_cast<double>(first.activation_bytes));
}

void draw_table(const MemoryTable& table, const FirstRow& first, const std::string& title, const std::string& path) {
  plot::Chart chart;
  chart.title = title;
  chart.x = {"ranks"};
  chart.y = {"MB on the rank that holds most", true};
  chart.series.push_back({"activations", table.ranks, table.activations});
  const std::string times = first.num_ranks == 1 ? "" : fmt::format("{} x ", first.num_ranks);
  chart.series.push_back({fmt::format("{}({}) / ranks", times, first.name), table.ranks, table.ideal});
  chart.series.back().dashed = true;
  chart.series.back().points = false;
  chart.series.push_back({"parameters", table.ranks, table.parameters});
  plot::draw(chart, path);
}

struct MemoryOptions {
  std::string config = "flux", device = "cpu", ranks = "1,2,4,8", out_dir = "out";
  std::int64_t size = 256;
  bool no_serial = false;
};

ExitCode measure_memory(const MemoryOptions& options) {
  const std::vector<std::int64_t> numbers = numbers_in("--ranks", options.ranks, {1, 64});

  DecoderRun run;
  run.config = options.config == "flux" ? flux_config() : small_config();
  run.height = run.width = options.size;
  run.num_gpus = gpus_for(options.device);
  fmt::print("decoding to {} x {}, {}, MB = 10^6 bytes\n", options.size, options.size, options.config);
  FirstRow first;
  if (options.no_serial) {
    first.num_ranks = static_cast<int>(numbers.front());
    first.name = fmt::format("P = {}", first.num_ranks);
  } else {
    first.name = "one process";
  }
  fmt::print("{:<10} {:>14} {:>15} {:>17}\n", "decoder", "parameters MB", "activations MB",
             options.no_serial ? fmt::format("of {}", first.name) : "activations / one");
  const auto measure = [&](const std::string& name) {
    const DecoderCost cost = run_decoder(run);
    if (first.activation_bytes == 0) first.activation_bytes = cost.activation_bytes;
    fmt::print("{}\n", table_line(name, cost, first));
    std::fflush(stdout);
    return cost;
  };
  run.serial = true;
  if (!options.no_serial) measure("serial");
  run.serial = false;
  MemoryTable table;
  for (const std::int64_t number : numbers) {
    run.num_ranks = static_cast<int>(number);
    const DecoderCost cost = measure(fmt::format("P = {}", number));
    table.ranks.push_back(static_cast<double>(number));
    table.activations.push_back(megabytes(cost.activation_bytes));
    table.parameters.push_back(megabytes(cost.parameter_bytes));
    table.ideal.push_back(megabytes(first.activation_bytes) * first.num_ranks / static_cast<double>(number));
  }
  make_folder("--out", options.out_dir);
  const std::string path = fmt::format("{}/vae_memory_{}_{}.png", options.out_dir, options.config, options.size);
  draw_table(table, first,
             fmt::format("Memory of a rank that decodes to {} x {} ({})", options.size, options.size, options.config),
             path);
  fmt::print("drawn: {}\n", path);
  return ExitCode::kAllMatch;
}

}  // namespace

void memory_command(cli::App& app) {
  auto& options = app.own(MemoryOptions());
  app.add_choice("--config", options.config, {"flux", "small"}, "sizes of the decoder");
  app.add_integer("--size", options.size, {8, 8192}, "side of the picture, pixels");
  app.add_text("--ranks", options.ranks, "LIST", "numbers of ranks");
  app.add_choice("--device", options.device, {"cpu", "cuda"}, "read by the memory meter, or by the GPU's allocator");
  app.add_flag("--no-serial", options.no_serial, "leave out the decoder in one process");
  app.add_text("--out", options.out_dir, "DIR", "folder for the plot");
  app.set_action([&] { return measure_memory(options); });
}

}  // namespace lab::vae
