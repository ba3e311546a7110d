#include "a9_collectives/commands/bench_measure.h"

#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "a9_collectives/commands/peer_twins.h"
#include "common/base/files.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/context_switches.h"
#include "common/bench/gloo_peer.h"
#include "common/bench/own_core.h"
#include "common/comm/communicator.h"
#include "common/comm/messages/endpoint_of.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/run_directory.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

/// Gloo's built-ins under both schedulings: the default one, and that of this suite's ranks.
struct GlooPeers {
  GlooPeers(const std::string& folder, int rank, int size)
      : usual(folder, rank, size, GlooPeer::Scheduling::kUsual),
        batch(folder, rank, size, GlooPeer::Scheduling::kBatch) {}

  GlooPeer usual;
  GlooPeer batch;
};

constexpr std::uint64_t kSeed = 11;
constexpr double kWarmSecondsPerTurn = 0.2;  ///< at first: the kernel takes a while to spread new ranks over the cores

struct Contender {
  std::string name;
  bool selected = false;
  std::string transport;                                           ///< empty: a peer
  GlooPeer::Scheduling scheduling = GlooPeer::Scheduling::kBatch;  ///< of this thread in its blocks
  std::optional<cpu_set_t> core;  ///< of this thread in its blocks, where ranks look for messages themselves
  std::function<void()> line_up;  ///< its own barrier: others' would let the ranks go one after the other
  std::function<at::Tensor(const at::Tensor& input)> run;
  Twin* twin = nullptr;  ///< who runs it, if not this process
  double BenchRow::*ratio = nullptr;
  bool has_result = true;
  std::vector<double> seconds, switches, alone;  ///< of one call, by turn, in a block and alone
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Gloo has these four; its reduce-scatter works on bound buffers only.
void add_gloo(std::vector<Contender>& contenders, const std::string& collective, int size, GlooPeer& gloo,
              GlooPeer::Scheduling scheduling) {
  Contender peer;
  peer.scheduling = scheduling;
  peer.line_up = [&gloo] { gloo.barrier(); };
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

/// A barrier over the connections that the collectives use: in round k, each rank tells the one 2^k further on that it is
/// there.
void line_up(PointToPoint& p2p) {
  const at::Tensor own = at::empty({0}), theirs = at::empty({0});  // that a message comes is all that counts
  for (int distance = 1; distance < p2p.size(); distance *= 2) {
    Request sent = p2p.isend(own, (p2p.rank() + distance) % p2p.size());
    p2p.recv(theirs, (p2p.rank() - distance + p2p.size()) % p2p.size());
    sent.wait();
  }
}

/// Each rank writes once what it must get: a broadcast's source nothing.
void add_copies(std::vector<Contender>& contenders, const Collective& collective, std::int64_t bytes,
                Communicator& comm) {
  Contender bound;
  bound.name = kCopies;
  bound.core = own_core(comm.rank(), comm.size());
  bound.line_up = [&comm] { line_up(comm.point_to_point()); };
  bound.has_result = false;
  const at::Tensor source = at::zeros({bytes_to_get(collective, bytes, comm.rank(), comm.size()) / 4});
  bound.run = [source](const at::Tensor&) { return source.clone(); };
  contenders.push_back(std::move(bound));
}

/// The seconds of one call in a block of them, on this rank, and its context switches; not a number where a twin is lost.
TwinAnswer timed(Contender& contender, const std::string& collective, const at::Tensor& input, std::int64_t bytes,
                 int calls) {
  if (contender.twin != nullptr) {
    contender.twin->ask({collective, bytes, calls}, kTwinSeconds);
    return contender.twin->answer().value_or(TwinAnswer{std::nan(""), 0, std::nan("")});
  }
  const SchedulingScope scope(contender.scheduling);
  const CoreScope core(contender.core);
  contender.line_up();
  const std::int64_t switches = context_switches();
  const double start = seconds_now();
  for (int call = 0; call < calls; ++call) contender.run(input);
  const double seconds = (seconds_now() - start) / calls;
  return {seconds, 0, static_cast<double>(context_switches() - switches) / calls};
}

/// In each turn every contender runs a block of calls and one call alone. Each turn begins with another one.
void run_turns(std::vector<Contender>& contenders, const std::string& collective, const at::Tensor& input,
               std::int64_t bytes, int turns, GlooPeer& gloo) {
  const int calls = calls_per_block(bytes);
  for (Contender& contender : contenders) {
    contender.seconds.clear();
    contender.switches.clear();
    contender.alone.clear();
  }
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = contenders[rotated(turn, i, contenders.size())];
      gloo.barrier();
      const TwinAnswer block = timed(contender, collective, input, bytes, calls);
      double alone = block.seconds;
      if (calls > 1) {
        gloo.barrier();
        alone = timed(contender, collective, input, bytes, 1).seconds;
      }
      contender.seconds.push_back(block.seconds);
      contender.switches.push_back(block.switches);
      contender.alone.push_back(alone);
    }
  }
}

/// Nothing for a peer whose ranks are lost: it is not asked again.
std::optional<BenchRow> row_of(Contender& contender, const Collective& collective, std::int64_t bytes,
                               Communicator& comm, GlooPeer& gloo, std::int64_t input_elements) {
  BenchRow row;
  row.collective = collective.name;
  row.algorithm = contender.name;
  row.selected = contender.selected;
  row.transport = contender.transport;
  row.bytes = bytes;
  row.ranks = comm.size();
  row.bus_factor = collective.bus_factor(comm.size());

  // A call takes as long as its slowest rank.
  const auto most_sorted = [&](const std::vector<double>& by_turn) {
    return std::get<0>(at::sort(std::get<0>(of_all_ranks(comm, by_turn).max(0))));
  };
  const at::Tensor times = most_sorted(contender.seconds);
  const at::Tensor switches = most_sorted(contender.switches);
  const at::Tensor alone = most_sorted(contender.alone);
  if (at::isnan(times).any().item().toBool() || at::isnan(alone).any().item().toBool()) {
    contender.twin->lose();
    return std::nullopt;
  }
  row.min_seconds = times[0].item().toDouble();
  row.median_seconds = times[times.numel() / 2].item().toDouble();
  row.max_seconds = times[-1].item().toDouble();
  row.switches = switches[switches.numel() / 2].item().toDouble();
  row.alone_seconds = alone[alone.numel() / 2].item().toDouble();
  if (contender.twin != nullptr) {
    contender.twin->ask({collective.name, bytes, 0}, kTwinSeconds);
    const std::optional<TwinAnswer> checked = contender.twin->answer();
    // Lost on one rank is lost on all, who must go on with the same contenders.
    if (at::isnan(of_all_ranks(comm, {checked ? 0.0 : std::nan("")})).any().item().toBool()) {
      contender.twin->lose();
      return std::nullopt;
    }
    row.wrong = checked->wrong;
    return row;
  }
  if (!contender.has_result) return row;

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
std::vector<BenchRow> measure(const Collective& collective, const BenchRun& run, std::int64_t asked_bytes,
                              const std::set<std::string>& left_out, Communicator& comm, GlooPeers& gloo,
                              PeerTwins& twins) {
  const std::int64_t bytes = whole_bytes(asked_bytes, comm.size());
  const std::int64_t input_elements = collective.input_elements(bytes / 4, comm.size());

  std::vector<Contender> contenders;
  const std::string chosen = collective.choose(bytes, comm.size());
  for (const Algorithm& algorithm : collective.algorithms) {
    Contender contender;
    contender.name = algorithm.name;
    contender.selected = algorithm.name == chosen;
    contender.transport = run.transport;
    if (left_out.count(algorithm.name) > 0 && (run.fits || !contender.selected)) continue;
    // The selected one is measured as students call it, including the choice.
    const auto call = contender.selected ? collective.run : algorithm.run;
    // Gloo's thread does not go well with a rank that keeps to one core.
    if (run.transport != "gloo") contender.core = own_core(comm.rank(), comm.size());
    contender.line_up = [&comm] { line_up(comm.point_to_point()); };
    contender.run = [call, &comm](const at::Tensor& input) { return call(input, comm.point_to_point()); };
    contenders.push_back(std::move(contender));
  }
  if (!run.fits) {
    add_gloo(contenders, collective.name, comm.size(), gloo.usual, GlooPeer::Scheduling::kUsual);
    add_gloo(contenders, collective.name, comm.size(), gloo.batch, GlooPeer::Scheduling::kBatch);
    add_copies(contenders, collective, bytes, comm);
  }
  for (PeerTwins::PeerTwin& one : twins.all()) {
    if (one.twin.is_lost()) continue;
    Contender contender;
    contender.name = one.peer.name;
    contender.twin = &one.twin;
    contender.ratio = one.peer.ratio;
    contenders.push_back(std::move(contender));
  }

  const at::Tensor input = at::zeros({input_elements});
  const bool is_first = asked_bytes == run.sizes.front();
  const double warm_from = seconds_now();
  double warm_for = 0;
  do {
    run_turns(contenders, collective.name, input, bytes, 1, gloo.batch);
    warm_for = of_all_ranks(comm, {seconds_now() - warm_from}).min().item().toDouble();
  } while (is_first && warm_for < kWarmSecondsPerTurn * run.turns);
  run_turns(contenders, collective.name, input, bytes, run.turns, gloo.batch);
  std::vector<BenchRow> rows;
  for (Contender& contender : contenders) {
    const std::optional<BenchRow> row = row_of(contender, collective, bytes, comm, gloo.batch, input_elements);
    if (row) rows.push_back(*row);
  }
  twins.end_lost();
  for (const Contender& contender : contenders) {
    if (contender.ratio != nullptr) set_ratios(rows, contender.name, contender.ratio);
  }
  return rows;
}

std::set<std::string> names_of(const std::vector<Algorithm>& algorithms) {
  std::set<std::string> names;
  for (const Algorithm& algorithm : algorithms) names.insert(algorithm.name);
  return names;
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

std::vector<BenchRow> measured_rows(const BenchRun& run, const Collective& collective, const std::vector<Peer>& peers) {
  const launch::RunDirectory directory;
  const std::string rows_file = directory.path() + "/rows.json";
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = run.num_ranks;
  spec.transport = comm::transport_named(run.transport);
  spec.timeout_seconds = 120;
  spec.careful = false;
  std::set<std::string> left_out =
      run.selected_only ? names_of(collective.algorithms) : unsolved_algorithms(collective);
  if (run.fits) {
    for (const Algorithm& algorithm : collective.algorithms) {
      if (algorithm.through_one_rank) left_out.insert(algorithm.name);
    }
  }
  const auto on_rank = [&](Communicator& comm, launch::RankOutcome&) {
    GlooPeers gloo(directory.path(), comm.rank(), comm.size());
    PeerTwins twins(peers, directory.path(), comm.rank(), comm.size(), gloo.batch);
    const at::RecordFunctionGuard unmetered(false);  // nor is work counted, which costs 0.2 us per operator
    const c10::InferenceMode no_autograd;  // nor are views followed for gradients: a fifth of an all-to-all of 1 KiB
    std::vector<BenchRow> rows;
    for (const std::int64_t bytes : run.sizes) {
      const auto of_size = measure(collective, run, bytes, left_out, comm, gloo, twins);
      rows.insert(rows.end(), of_size.begin(), of_size.end());
    }
    if (comm.rank() == 0) write_file_atomically(rows_file, bench_json(rows));
  };
  const launch::WorldOutcome outcome = launch::run_ranks(spec, launch::RankBody(on_rank));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  std::ifstream file(rows_file);
  return rows_of_json(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace lab::a9
