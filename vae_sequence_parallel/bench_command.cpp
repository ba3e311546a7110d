#include <fmt/format.h>

#include <cstdio>

#include "common/bench/machine_load.h"
#include "common/bench/median.h"
#include "common/report/app.h"
#include "common/report/counted.h"
#include "vae_sequence_parallel/decoder_runs.h"
#include "vae_sequence_parallel/load_run.h"
#include "vae_sequence_parallel/measure_commands.h"
#include "vae_sequence_parallel/megabytes.h"

namespace lab::vae {
ExitCode bench_command(int argc, char** argv) {
  std::string config = "flux";
  std::int64_t size = 256;
  DecoderRun run;
  int most_ranks = 2, rounds = 3, load_ranks = 4;
  App app("vae_sequence_parallel bench", "The time of a decoding, alone and in parallel, one thread per rank.");
  app.add_choice("--config", config, {"flux", "small"}, "sizes of the decoder");
  app.add_whole_number("--size", size, {8, 8192}, "side of the picture, pixels");
  app.add_whole_number("--nproc", most_ranks, {1, 64}, "ranks of the parallel decoding, beside one rank and none");
  app.add_whole_number("--rounds", rounds, {1, 1000}, "each measures everything once, so that all see the same noise");
  app.add_whole_number("--load-nproc", load_ranks, {0, 64}, "ranks that load a checkpoint of this size; 0: none");
  if (const auto done = app.parse(argc, argv)) return *done;
  run.config = config == "flux" ? flux_config() : small_config();
  run.height = run.width = size;

  const MachineLoad load;
  std::vector<double> serial, one, several;
  const auto measure = [&](bool is_serial, int num_ranks, std::vector<double>& seconds) {
    run.serial = is_serial;
    run.num_ranks = num_ranks;
    seconds.push_back(run_decoder(run).seconds.front());
  };
  fmt::print("{:<8} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "round", "serial s", "P = 1 s",
             fmt::format("P = {} s", most_ranks), "/ serial", "/ P = 1");
  const auto line = [&](const std::string& name, double of_serial, double of_one, double of_several) {
    fmt::print("{:<8} {:>10.2f} {:>10.2f} {:>10.2f} {:>12.3f} {:>12.3f}\n", name, of_serial, of_one, of_several,
               of_several / of_serial, of_several / of_one);
    std::fflush(stdout);
  };
  for (int round = 0; round < rounds; ++round) {
    measure(true, 1, serial);
    measure(false, 1, one);
    measure(false, most_ranks, several);
    line(std::to_string(round), serial.back(), one.back(), several.back());
  }
  line("median", median(serial), median(one), median(several));
  if (load_ranks > 0) {
    const LoadCost cost = run_load(run.config, load_ranks, rounds);
    fmt::print("loading {:.1f} MB on {}: {:.2f} s (median), {:.1f} MB held by each\n", megabytes(cost.file_bytes),
               counted(load_ranks, "rank"), median(cost.seconds), megabytes(cost.held_bytes));
  }
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace lab::vae
