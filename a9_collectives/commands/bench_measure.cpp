#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <chrono>
#include <set>

#include "a9_collectives/commands/bench.h"
#include "common/api/communicator.h"
#include "common/base/files.h"
#include "common/base/own_core.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/collective_data.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/run_directory.h"

namespace lab::a9 {
namespace {

constexpr double kWarmSecondsPerTurn = 0.2;  ///< at first: the kernel takes a while to spread new ranks over the cores

struct Contender {
  std::string name;
  bool selected = false;
  std::function<at::Tensor(const at::Tensor& input)> run;
  std::vector<double> seconds = {};  ///< of one call, by turn
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// In each turn every contender runs a block of calls. Each turn begins with another one.
void run_turns(std::vector<Contender>& contenders, const at::Tensor& input, std::int64_t bytes, int turns,
               PointToPoint& p2p) {
  const int calls = calls_per_block(bytes);
  for (Contender& contender : contenders) contender.seconds.clear();
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = contenders[rotated(turn, i, contenders.size())];
      line_up(p2p);
      const double start = seconds_now();
      for (int call = 0; call < calls; ++call) contender.run(input);
      contender.seconds.push_back((seconds_now() - start) / calls);
    }
  }
}

BenchRow make_row(const Contender& contender, const Collective& collective, const std::string& transport,
                  std::int64_t bytes, std::int64_t input_elements, Communicator& comm) {
  // A call takes as long as its slowest rank.
  const at::Tensor times = std::get<0>(at::sort(std::get<0>(of_all_ranks(comm, contender.seconds).max(0))));
  BenchRow row;
  row.collective = collective.name;
  row.algorithm = contender.name;
  row.selected = contender.selected;
  row.transport = transport;
  row.bytes = bytes;
  row.ranks = comm.size();
  row.min_seconds = times[0].item().toDouble();
  row.median_seconds = times[times.numel() / 2].item().toDouble();
  row.max_seconds = times[-1].item().toDouble();
  row.bus_factor = collective.bus_factor(comm.size());

  const at::Tensor input = collective_input(input_elements, comm.rank());
  line_up(comm.point_to_point());
  get_endpoint(comm).restart_clock();
  const LedgerEntry before = get_endpoint(comm).ledger().of("message");
  const at::Tensor result = contender.run(input);
  const LedgerEntry after = get_endpoint(comm).ledger().of("message");
  const at::Tensor expected = expected_result(collective.name, input_elements, comm.rank(), comm.size());
  const auto wrong = static_cast<double>(at::ne(result, expected).sum().item().toLong());
  const at::Tensor counts = of_all_ranks(comm, {static_cast<double>(after.messages - before.messages),
                                                static_cast<double>(after.bytes_sent - before.bytes_sent),
                                                static_cast<double>(after.rounds - before.rounds), wrong});
  const at::Tensor most = std::get<0>(counts.max(0));
  row.messages = static_cast<std::uint64_t>(most[0].item().toLong());
  row.bytes_sent = static_cast<std::uint64_t>(most[1].item().toLong());
  row.rounds = static_cast<std::uint64_t>(most[2].item().toLong());
  row.wrong = counts.sum(0)[3].item().toLong();
  return row;
}

/// Collective: every rank calls it. Rows are equal on all ranks.
std::vector<BenchRow> measure(const Collective& collective, const BenchRun& run, std::int64_t bytes,
                              const std::set<std::string>& left_out, Communicator& comm) {
  std::vector<Contender> contenders;
  const std::string chosen = collective.choose(bytes, comm.size());
  for (const Algorithm& algorithm : collective.algorithms) {
    const bool selected = algorithm.name == chosen;
    if (left_out.count(algorithm.name) > 0 && (run.fits || !selected)) continue;
    // The selected one is measured as students call it, including the choice.
    const auto call = selected ? collective.run : algorithm.run;
    contenders.push_back({algorithm.name, selected,
                          [call, &comm](const at::Tensor& input) { return call(input, comm.point_to_point()); }});
  }
  const std::int64_t input_elements = collective.input_elements(bytes / 4, comm.size());
  const at::Tensor input = at::zeros({input_elements});
  const bool is_first = bytes == run.sizes.front();
  const double warm_from = seconds_now();
  double warm_for = 0;
  do {
    run_turns(contenders, input, bytes, 1, comm.point_to_point());
    warm_for = of_all_ranks(comm, {seconds_now() - warm_from}).min().item().toDouble();
  } while (is_first && warm_for < kWarmSecondsPerTurn * run.turns);
  run_turns(contenders, input, bytes, run.turns, comm.point_to_point());
  std::vector<BenchRow> rows;
  for (const Contender& contender : contenders)
    rows.push_back(make_row(contender, collective, run.transport, bytes, input_elements, comm));
  return rows;
}

/// The algorithms whose TODO is still there, each with a line.
std::set<std::string> unsolved_algorithms(const Collective& collective) {
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = 2;
  std::set<std::string> unsolved;
  for (const Algorithm& algorithm : collective.algorithms) {
    const auto on_rank = [&](Communicator& comm, launch::RankOutcome&) {
      algorithm.run(at::zeros({comm.size()}), comm.point_to_point());
    };
    const launch::WorldOutcome outcome = launch::run_ranks(spec, launch::RankBody(on_rank));
    if (outcome.exit_code() != static_cast<int>(ExitCode::kNotImplemented)) continue;
    fmt::print("{} {} is left out: it is not implemented\n", collective.name, algorithm.name);
    unsolved.insert(algorithm.name);
  }
  return unsolved;
}

}  // namespace

std::vector<BenchRow> measured_rows(const BenchRun& run, const Collective& collective) {
  const launch::RunDirectory directory;
  const std::string rows_file = directory.path() + "/rows.json";
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = run.num_ranks;
  spec.transport = comm::transport_named(run.transport);
  spec.timeout_seconds = 120;
  spec.careful = false;
  std::set<std::string> left_out = unsolved_algorithms(collective);
  for (const Algorithm& algorithm : collective.algorithms) {
    if (run.fits && algorithm.through_one_rank) left_out.insert(algorithm.name);
  }
  const auto on_rank = [&](Communicator& comm, launch::RankOutcome&) {
    // Where ranks look for messages themselves; Gloo's thread does not go well with a rank that keeps to one core.
    const CoreScope core(run.transport == "gloo" ? std::nullopt : own_core(comm.rank(), comm.size()));
    const at::RecordFunctionGuard unmetered(false);  // nor is work counted, which costs 0.2 us per operator
    const c10::InferenceMode no_autograd;  // nor are views followed for gradients: a fifth of an all-to-all of 1 KiB
    std::vector<BenchRow> rows;
    for (const std::int64_t bytes : run.sizes) {
      const auto of_size = measure(collective, run, bytes, left_out, comm);
      rows.insert(rows.end(), of_size.begin(), of_size.end());
    }
    if (comm.rank() == 0) write_file_atomically(rows_file, json_text(rows));
  };
  const launch::WorldOutcome outcome = launch::run_ranks(spec, launch::RankBody(on_rank));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  return from_json_text<std::vector<BenchRow>>(read_file(rows_file), "the rows");
}

}  // namespace lab::a9
