#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "a9_collectives/commands/bench.h"
#include "a9_collectives/commands/commands.h"
#include "a9_collectives/commands/peer_twins.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/gloo_peer.h"
#include "common/bench/machine_load.h"
#include "common/comm/communicator.h"
#include "common/comm/messages/endpoint_of.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/run_directory.h"
#include "common/plot/plot.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

struct BenchOptions {
  int num_ranks = 4;
  std::string collective = "all";
  std::string transport = "gloo";
  SizeSteps steps{1 << 10, 64 << 20, 4};
  int turns = 11;
  bool selected_only = false;
  bool no_mpi = false, no_python = false;
  std::string json_file;
  std::string plot_file;
  std::string fit_file;

  bool fits() const { return !fit_file.empty(); }
  std::vector<const Collective*> collectives() const;
  std::vector<std::int64_t> sizes() const { return bench_sizes(steps, num_ranks); }
  std::string picture_of(const Collective& one) const {
    return collective == "all" ? chart_file(plot_file, one.name) : plot_file;
  }
};

std::vector<const Collective*> BenchOptions::collectives() const {
  if (collective != "all") return {&collective_named(collective)};
  std::vector<const Collective*> all;
  for (const Collective& one : catalogue()) all.push_back(&one);
  return all;
}

/// Errors    UsageError: sizes in the wrong order, or a file that could not be written at the end of the run
void validate(const BenchOptions& options) {
  if (options.steps.min_bytes > options.steps.max_bytes) {
    const auto text = [](std::int64_t bytes) { return describe_bytes(static_cast<std::uint64_t>(bytes)); };
    throw UsageError(fmt::format("--min-bytes {}: expected at most --max-bytes, {}", text(options.steps.min_bytes),
                                 text(options.steps.max_bytes)));
  }
  if (options.fits() && options.selected_only)
    throw UsageError("--fit compares all algorithms: expected no --selected-only beside it");
  if (!options.plot_file.empty()) plot::check_plot_name(options.plot_file);
  for (const Collective* collective : options.collectives()) {
    if (!options.plot_file.empty()) plot::check_plot_name(options.picture_of(*collective));
  }
  for (const std::string& file : {options.json_file, options.fit_file}) {
    if (!file.empty()) const AtomicFile never_committed(file);
  }
}

/// What the benchmark measures at one size: every algorithm, or only the selected one, and Gloo's built-in if there is
/// one, in turns so that all see the same machine.
struct BenchPoint {
  std::int64_t bytes = 0;  ///< as nccl-tests counts them; rounded down to whole elements per rank
  int turns = 11;          ///< blocks of each contender; the median counts
  bool selected_only = false;
  bool peers = true;                    ///< whether Gloo runs, too
  std::set<std::string> unsolved = {};  ///< algorithms to leave out
};

/// Gloo's built-ins under both schedulings: the default one, and that of this suite's ranks.
struct GlooPeers {
  GlooPeers(const std::string& folder, int rank, int size)
      : usual(folder, rank, size, GlooPeer::Scheduling::kUsual),
        batch(folder, rank, size, GlooPeer::Scheduling::kBatch) {}

  GlooPeer usual;
  GlooPeer batch;
};

constexpr std::uint64_t kSeed = 11;

struct Contender {
  std::string name;
  bool selected = false;
  GlooPeer::Scheduling scheduling = GlooPeer::Scheduling::kBatch;  ///< of this thread in its blocks
  std::function<at::Tensor(const at::Tensor& input)> run;
  Twin* twin = nullptr;  ///< who runs it, if not this process
  double BenchRow::*ratio = nullptr;
  std::vector<double> seconds, alone;  ///< of one call, by turn, in a block and alone
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Gloo has these four; its reduce-scatter works on bound buffers only.
void add_gloo(std::vector<Contender>& contenders, const std::string& collective, int size, GlooPeer& gloo,
              GlooPeer::Scheduling scheduling) {
  Contender peer;
  peer.scheduling = scheduling;
  peer.name = "gloo batch";
  if (scheduling == GlooPeer::Scheduling::kUsual) {
    peer.name = "gloo";
    peer.ratio = &BenchRow::ratio_to_gloo;
  }
  if (collective == "broadcast") {
    peer.run = [&gloo](const at::Tensor& input) {
      gloo.broadcast(input, 0);
      return input;
    };
  } else if (collective == "allreduce") {
    peer.run = [&gloo](const at::Tensor& input) {
      gloo.all_reduce(input);
      return input;
    };
  } else if (collective == "allgather") {
    peer.run = [&gloo, size](const at::Tensor& input) {
      const at::Tensor out = at::empty({size * input.numel()}, input.options());
      gloo.all_gather(input, out);
      return out;
    };
  } else if (collective == "all_to_all") {
    peer.run = [&gloo](const at::Tensor& input) {
      const at::Tensor out = at::empty_like(input);
      gloo.all_to_all(input, out);
      return out;
    };
  } else {
    return;
  }
  contenders.push_back(std::move(peer));
}

at::Tensor expected_result(const std::string& collective, std::int64_t input_elements, int rank, int size) {
  const auto input = [&](int of_rank) { return exact_values_for_rank({input_elements}, at::kFloat, kSeed, of_rank); };
  if (collective == "broadcast") return input(0);
  if (collective == "allreduce" || collective == "reduce_scatter") {
    at::Tensor sum = input(0);
    for (int other = 1; other < size; ++other) sum.add_(input(other));
    return collective == "allreduce" ? sum : sum.chunk(size, 0)[static_cast<std::size_t>(rank)];
  }
  std::vector<at::Tensor> parts;
  for (int other = 0; other < size; ++other) {
    const at::Tensor theirs = input(other);
    parts.push_back(collective == "allgather" ? theirs : theirs.chunk(size, 0)[static_cast<std::size_t>(rank)]);
  }
  return at::cat(parts, 0);
}

/// The values of all ranks, one row each.
at::Tensor of_all_ranks(Communicator& comm, const std::vector<double>& values) {
  return at::stack(comm.collectives().all_gather(at::tensor(values, at::kDouble)));
}

constexpr double kTwinSeconds = 60;

/// The seconds of one call in a block of them, on this rank; not a number where a twin is lost.
double timed(Contender& contender, const std::string& collective, const at::Tensor& input, const BenchPoint& point,
             int calls) {
  if (contender.twin != nullptr) {
    contender.twin->ask({collective, point.bytes, calls}, kTwinSeconds);
    const std::optional<TwinAnswer> answer = contender.twin->answer();
    return answer ? answer->seconds : std::nan("");
  }
  const SchedulingScope scope(contender.scheduling);
  const double start = seconds_now();
  for (int call = 0; call < calls; ++call) contender.run(input);
  return (seconds_now() - start) / calls;
}

/// In each turn every contender runs a block of calls and one call alone. Each turn begins with another one.
void run_turns(std::vector<Contender>& contenders, const std::string& collective, const at::Tensor& input,
               const BenchPoint& point, GlooPeer& gloo) {
  const int calls = calls_per_block(point.bytes);
  for (int turn = -1; turn < point.turns; ++turn) {  // the first is a warm-up
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = contenders[(static_cast<std::size_t>(turn + 1) + i) % contenders.size()];
      gloo.barrier();
      const double seconds = timed(contender, collective, input, point, calls);
      double alone = seconds;
      if (calls > 1) {
        gloo.barrier();
        alone = timed(contender, collective, input, point, 1);
      }
      if (turn < 0) continue;
      contender.seconds.push_back(seconds);
      contender.alone.push_back(alone);
    }
  }
}

/// Nothing for a peer whose ranks are lost: it is not asked again.
std::optional<BenchRow> row_of(Contender& contender, const Collective& collective, const BenchPoint& point,
                               Communicator& comm, GlooPeer& gloo, std::int64_t input_elements) {
  BenchRow row;
  row.collective = collective.name;
  row.algorithm = contender.name;
  row.selected = contender.selected;
  row.bytes = point.bytes;
  row.ranks = comm.size();
  row.bus_factor = collective.bus_factor(comm.size());

  // A call takes as long as its slowest rank.
  const auto of_slowest_sorted = [&](const std::vector<double>& seconds) {
    return std::get<0>(at::sort(std::get<0>(of_all_ranks(comm, seconds).max(0))));
  };
  const at::Tensor times = of_slowest_sorted(contender.seconds);
  const at::Tensor alone = of_slowest_sorted(contender.alone);
  if (at::isnan(times).any().item().toBool() || at::isnan(alone).any().item().toBool()) {
    contender.twin->lose();
    return std::nullopt;
  }
  row.min_seconds = times[0].item().toDouble();
  row.median_seconds = times[point.turns / 2].item().toDouble();
  row.max_seconds = times[point.turns - 1].item().toDouble();
  row.alone_seconds = alone[point.turns / 2].item().toDouble();
  if (contender.twin != nullptr) {
    contender.twin->ask({collective.name, point.bytes, 0}, kTwinSeconds);
    const std::optional<TwinAnswer> checked = contender.twin->answer();
    // Lost on one rank is lost on all, who must go on with the same contenders.
    if (at::isnan(of_all_ranks(comm, {checked ? 0.0 : std::nan("")})).any().item().toBool()) {
      contender.twin->lose();
      return std::nullopt;
    }
    row.wrong = checked->wrong;
    return row;
  }

  const at::Tensor input = exact_values_for_rank({input_elements}, at::kFloat, kSeed, comm.rank());
  gloo.barrier();
  endpoint_of(comm).restart_clock();
  const LedgerEntry before = endpoint_of(comm).ledger().of("message");
  const at::Tensor result = contender.run(input);
  const LedgerEntry after = endpoint_of(comm).ledger().of("message");
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
std::vector<BenchRow> measure(const Collective& collective, const BenchPoint& asked, Communicator& comm,
                              GlooPeers& gloo, PeerTwins& twins) {
  BenchPoint point = asked;
  point.bytes = whole_bytes(asked.bytes, comm.size());
  const std::int64_t elements = point.bytes / 4;
  const std::int64_t input_elements = collective.input_elements(elements, comm.size());

  std::vector<Contender> contenders;
  const std::string chosen = collective.choose(point.bytes, comm.size());
  for (const Algorithm& algorithm : collective.algorithms) {
    Contender contender;
    contender.name = algorithm.name;
    contender.selected = algorithm.name == chosen;
    const bool is_left_out = point.selected_only || point.unsolved.count(algorithm.name) > 0;
    if (is_left_out && !contender.selected) continue;
    // The selected one is measured as students call it, including the choice.
    const auto run = contender.selected ? collective.run : algorithm.run;
    contender.run = [run, &comm](const at::Tensor& input) { return run(input, comm.point_to_point()); };
    contenders.push_back(std::move(contender));
  }
  if (point.peers) {
    add_gloo(contenders, collective.name, comm.size(), gloo.usual, GlooPeer::Scheduling::kUsual);
    add_gloo(contenders, collective.name, comm.size(), gloo.batch, GlooPeer::Scheduling::kBatch);
  }
  for (PeerTwins::PeerTwin& one : twins.all()) {
    if (one.twin.is_lost()) continue;
    Contender contender;
    contender.name = one.peer.name;
    contender.twin = &one.twin;
    contender.ratio = one.peer.ratio;
    contenders.push_back(std::move(contender));
  }

  run_turns(contenders, collective.name, at::zeros({input_elements}), point, gloo.batch);
  std::vector<BenchRow> rows;
  for (Contender& contender : contenders) {
    const std::optional<BenchRow> row = row_of(contender, collective, point, comm, gloo.batch, input_elements);
    if (row) rows.push_back(*row);
  }
  for (const Contender& contender : contenders) {
    if (contender.ratio != nullptr) set_ratios(rows, contender.name, contender.ratio);
  }
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

/// Measured by ranks in separate processes; rank 0 writes the rows to a file.
std::vector<BenchRow> measured_rows(const BenchOptions& options, const Collective& collective,
                                    const std::vector<Peer>& peers) {
  const launch::RunDirectory directory;
  const std::string rows_file = directory.path() + "/rows.json";
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = options.num_ranks;
  spec.transport = comm::transport_named(options.transport);
  spec.timeout_seconds = 120;
  spec.careful = false;
  const BenchPoint point{0, options.turns, options.selected_only, !options.fits(), unsolved_algorithms(collective)};
  const auto on_rank = [&](Communicator& comm, launch::RankOutcome&) {
    GlooPeers gloo(directory.path(), comm.rank(), comm.size());
    PeerTwins twins(peers, directory.path(), comm.rank(), comm.size(), gloo.batch);
    std::vector<BenchRow> rows;
    for (const std::int64_t bytes : options.sizes()) {
      BenchPoint of_bytes = point;
      of_bytes.bytes = bytes;
      const auto of_size = measure(collective, of_bytes, comm, gloo, twins);
      rows.insert(rows.end(), of_size.begin(), of_size.end());
    }
    if (comm.rank() == 0) write_file_atomically(rows_file, bench_json(rows));
  };
  const launch::WorldOutcome outcome = launch::run_ranks(spec, launch::RankBody(on_rank));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  std::ifstream file(rows_file);
  return rows_of_json(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// One collective's part of the table.
std::vector<BenchRow> bench(const BenchOptions& options, const Collective& collective, const std::vector<Peer>& peers) {
  const std::vector<BenchRow> rows = measured_rows(options, collective, peers);
  for (const BenchRow& row : rows) fmt::print("{}\n", bench_line(row));
  for (const Peer& peer : peers) {
    const auto is_its = [&](const BenchRow& row) { return row.algorithm == peer.name; };
    const auto num_rows = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_its));
    if (num_rows == options.sizes().size()) continue;
    fmt::print("peer {} is left out of {} after {}: its ranks ended, or a block took them over {} s\n", peer.name,
               collective.name, counted(num_rows, "size"), kTwinSeconds);
  }
  std::fflush(stdout);
  return rows;
}

/// Measures the algorithms on few and on more ranks, and writes the tables of choose_...() that follow from it.
ExitCode fit(const BenchOptions& asked) {
  const MachineLoad load;
  fmt::print("{}\n", bench_header());
  std::vector<BenchRow> all;
  for (const int num_ranks : {2, 3, 4, 6, 8, 12, 16}) {
    if (num_ranks > asked.num_ranks) break;
    BenchOptions options = asked;
    options.num_ranks = num_ranks;
    for (const Collective* collective : options.collectives()) {
      const std::vector<BenchRow> rows = bench(options, *collective, {});
      all.insert(all.end(), rows.begin(), rows.end());
    }
  }
  const std::string measured =
      fmt::format("// As `bench --fit` measured it over {}: {}.\n", asked.transport, load.report());
  write_file_atomically(asked.fit_file, measured + choice_tables(all));
  if (!asked.json_file.empty()) write_file_atomically(asked.json_file, bench_json(all));
  fmt::print("{}\ntables for choose_...(): {}\n", load.report(), asked.fit_file);
  const bool wrong = std::any_of(all.begin(), all.end(), [](const BenchRow& row) { return row.wrong > 0; });
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

ExitCode bench_all(const BenchOptions& options) {
  at::set_num_threads(1);
  validate(options);
  if (options.fits()) return fit(options);
  const MachineLoad load;
  const UsablePeers usable = usable_peers(options.num_ranks, options.no_mpi, options.no_python);
  for (const std::string& line : usable.lines) fmt::print("{}\n", line);
  fmt::print("{}\n", bench_header());
  std::fflush(stdout);

  std::vector<BenchRow> all;
  bool wrong = false;
  for (const Collective* collective : options.collectives()) {
    const std::vector<BenchRow> rows = bench(options, *collective, usable.peers);
    if (!options.plot_file.empty()) plot::draw(bench_chart(rows), options.picture_of(*collective));
    for (const BenchRow& row : rows) wrong = wrong || row.wrong > 0;
    all.insert(all.end(), rows.begin(), rows.end());
  }
  if (!options.json_file.empty()) write_file_atomically(options.json_file, bench_json(all));
  for (const std::string& line : summary_lines(all)) fmt::print("{}\n", line);
  fmt::print("{}\n", load.report());
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

}  // namespace

void bench_command(cli::App& app) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
  auto& options = app.own(BenchOptions());
  app.add_integer("--nproc", options.num_ranks, {2, 64}, "ranks");
  app.add_text("--collective", options.collective, "NAME", "one collective, or all");
  app.add_transport(options.transport, "of the algorithms, not of their peers");
  app.add_bytes("--min-bytes", options.steps.min_bytes, {4, kMostBytes}, "smallest size");
  app.add_bytes("--max-bytes", options.steps.max_bytes, {4, kMostBytes}, "largest size");
  app.add_integer("--factor", options.steps.factor, {2, 1024}, "from one size to the next");
  app.add_integer("--turns", options.turns, {1, 1000}, "blocks of each contender; the median counts");
  app.add_flag("--selected-only", options.selected_only, "leave out the algorithms that are not selected");
  app.add_flag("--no-mpi", options.no_mpi, "leave out Open MPI");
  app.add_flag("--no-python", options.no_python, "leave out Python: the handout's way, with torch.distributed");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
  app.add_text("--fit", options.fit_file, "FILE",
               "measure the algorithms alone, on 2 ranks up to --nproc, and write the tables of choose_...() as C++");
  app.add_text("--plot", options.plot_file, "FILE",
               "bandwidth against size (.png, .pdf, .svg); FILE gets each collective's name where all run");
  app.set_action([&] { return bench_all(options); });
}

}  // namespace lab::a9
