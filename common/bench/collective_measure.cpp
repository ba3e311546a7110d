#include "common/bench/collective_measure.h"

#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "common/base/files.h"
#include "common/base/own_core.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/collective_data.h"
#include "common/bench/collective_peers.h"
#include "common/bench/context_switches.h"
#include "common/bench/gloo_peer.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/run_directory.h"

namespace lab {
namespace {

/// Gloo's built-ins under both schedulings: the default one, and that of this suite's ranks.
struct GlooPeers {
  GlooPeers(const std::string& folder, int rank, int size)
      : usual(folder, rank, size, GlooPeer::Scheduling::kUsual),
        batch(folder, rank, size, GlooPeer::Scheduling::kBatch) {}

  GlooPeer usual;
  GlooPeer batch;
};

constexpr double kWarmSecondsPerTurn = 0.2;  ///< at first: the kernel takes a while to spread new ranks over the cores

struct Contender {
  std::string name;
  std::string transport = {};                                      ///< empty: a peer
  GlooPeer::Scheduling scheduling = GlooPeer::Scheduling::kBatch;  ///< of this thread in its blocks
  std::optional<cpu_set_t> core = {};  ///< of this thread in its blocks, where ranks look for messages themselves
  std::function<void()> line_up = {};  ///< its own barrier: others' would let the ranks go one after the other
  std::function<std::vector<at::Tensor>(const at::Tensor& input)> run = {};
  Twin* twin = nullptr;  ///< who runs it, if not this process
  bool has_result = true;
  std::vector<double> seconds = {}, switches = {}, alone = {};  ///< of one call, by turn, in a block and alone
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Ours.
Contender collectives(const std::string& collective, const std::string& transport, Communicator& comm) {
  Contender ours{kOurs, transport};
  // Gloo's thread does not go well with a rank that keeps to one core.
  if (transport != "gloo") ours.core = own_core(comm.rank(), comm.size());
  ours.line_up = [&comm] { line_up(comm.point_to_point()); };
  Collectives& all = comm.collectives();
  ours.run = [&all, collective](const at::Tensor& input) -> std::vector<at::Tensor> {
    if (collective == "broadcast") return {all.broadcast(input, 0)};
    if (collective == "allreduce") return {all.all_reduce(input)};
    if (collective == "allgather") return all.all_gather(input);
    if (collective == "reduce_scatter") return {all.reduce_scatter(input)};
    const std::vector<at::Tensor> parts = input.chunk(all.size(), 0);
    return all.all_to_all(parts, std::vector<std::vector<std::int64_t>>(parts.size(), parts.front().sizes().vec()));
  };
  return ours;
}

/// Gloo has these four; its reduce-scatter works on bound buffers only.
void add_gloo(std::vector<Contender>& contenders, const std::string& collective, int size, GlooPeer& gloo,
              GlooPeer::Scheduling scheduling) {
  Contender peer{scheduling == GlooPeer::Scheduling::kUsual ? "gloo" : "gloo batch"};
  peer.scheduling = scheduling;
  peer.line_up = [&gloo] { gloo.barrier(); };
  if (collective == "reduce_scatter") return;
  peer.run = [&gloo, size, collective](const at::Tensor& input) -> std::vector<at::Tensor> {
    at::Tensor out = input;
    if (collective == "broadcast") {
      gloo.broadcast(input, 0);
    } else if (collective == "allreduce") {
      gloo.all_reduce(input);
    } else if (collective == "allgather") {
      out = at::empty({size * input.numel()}, input.options());
      gloo.all_gather(input, out);
    } else {
      out = at::empty_like(input);
      gloo.all_to_all(input, out);
    }
    return {out};
  };
  contenders.push_back(std::move(peer));
}

/// Each rank writes once what it must get: a broadcast's source nothing.
Contender copies(const std::string& collective, std::int64_t bytes, Communicator& comm) {
  Contender bound{kCopies};
  bound.core = own_core(comm.rank(), comm.size());
  bound.line_up = [&comm] { line_up(comm.point_to_point()); };
  bound.has_result = false;
  const at::Tensor source = at::zeros({bytes_to_get(collective, bytes, comm.rank(), comm.size()) / 4});
  bound.run = [source](const at::Tensor&) -> std::vector<at::Tensor> { return {source.clone()}; };
  return bound;
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
  // Each turn begins with another contender, and a barrier before each block keeps one from paying for the last.
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

/// Elements that differ from the exact result, over all ranks; nothing if a twin is lost on one rank, and so on all, who
/// must go on with the same contenders.
std::optional<std::int64_t> wrong_elements(Contender& contender, const std::string& collective, std::int64_t bytes,
                                           std::int64_t input_elements, Communicator& comm) {
  if (contender.twin != nullptr) {
    contender.twin->ask({collective, bytes, 0}, kTwinSeconds);
    const std::optional<TwinAnswer> checked = contender.twin->answer();
    const bool is_lost = at::isnan(of_all_ranks(comm, {checked ? 0.0 : std::nan("")})).any().item().toBool();
    return is_lost ? std::nullopt : std::optional<std::int64_t>(checked->wrong);
  }
  if (!contender.has_result) return 0;
  const at::Tensor result = at::cat(contender.run(collective_input(input_elements, comm.rank())), 0);
  const at::Tensor expected = expected_result(collective, input_elements, comm.rank(), comm.size());
  const auto wrong = static_cast<double>(at::ne(result, expected).sum().item().toLong());
  return of_all_ranks(comm, {wrong}).sum().item().toLong();
}

/// Nothing for a peer whose ranks are lost: it is not asked again.
std::optional<CollectiveRow> make_row(Contender& contender, const std::string& collective, std::int64_t bytes,
                                      std::int64_t input_elements, Communicator& comm, GlooPeer& gloo) {
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
  gloo.barrier();
  const std::optional<std::int64_t> wrong = wrong_elements(contender, collective, bytes, input_elements, comm);
  if (!wrong) {
    contender.twin->lose();
    return std::nullopt;
  }
  const auto middle = [](const at::Tensor& sorted) { return sorted[sorted.numel() / 2].item().toDouble(); };
  CollectiveRow row{collective, contender.name, contender.transport, bytes, comm.size()};
  row.min_seconds = times[0].item().toDouble();
  row.median_seconds = middle(times);
  row.max_seconds = times[-1].item().toDouble();
  row.context_switches = middle(switches);
  row.alone_seconds = middle(alone);
  row.bus_factor = bus_factor(collective, comm.size());
  row.wrong = *wrong;
  return row;
}

/// Collective: every rank calls it. Rows are equal on all ranks.
std::vector<CollectiveRow> measure(const std::string& collective, const CollectiveRun& run, std::int64_t asked_bytes,
                                   Communicator& comm, GlooPeers& gloo, PeerTwins& twins) {
  const std::int64_t bytes = whole_bytes(asked_bytes, comm.size());
  const std::int64_t input_elements = bytes / 4 / (collective == "allgather" ? comm.size() : 1);

  std::vector<Contender> contenders = {collectives(collective, run.transport, comm)};
  add_gloo(contenders, collective, comm.size(), gloo.usual, GlooPeer::Scheduling::kUsual);
  add_gloo(contenders, collective, comm.size(), gloo.batch, GlooPeer::Scheduling::kBatch);
  contenders.push_back(copies(collective, bytes, comm));
  for (PeerTwins::PeerTwin& one : twins.all()) {
    if (one.twin.is_lost()) continue;
    contenders.push_back({one.peer.name});
    contenders.back().twin = &one.twin;
  }

  const at::Tensor input = at::zeros({input_elements});
  const bool is_first = asked_bytes == run.sizes.front();
  const double warm_from = seconds_now();
  double warm_for = 0;
  do {
    run_turns(contenders, collective, input, bytes, 1, gloo.batch);
    warm_for = of_all_ranks(comm, {seconds_now() - warm_from}).min().item().toDouble();
  } while (is_first && warm_for < kWarmSecondsPerTurn * run.turns);
  run_turns(contenders, collective, input, bytes, run.turns, gloo.batch);
  std::vector<CollectiveRow> rows;
  for (Contender& contender : contenders) {
    const std::optional<CollectiveRow> row = make_row(contender, collective, bytes, input_elements, comm, gloo.batch);
    if (row) rows.push_back(*row);
  }
  twins.end_lost();
  return rows;
}

}  // namespace

std::vector<CollectiveRow> measured_rows(const CollectiveRun& run, const std::string& collective,
                                         const std::vector<PeerLibrary>& peers) {
  const launch::RunDirectory directory;
  const std::string rows_file = directory.path() + "/rows.json";
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = run.num_ranks;
  spec.transport = comm::transport_named(run.transport);
  spec.timeout_seconds = 120;
  spec.careful = false;
  const auto on_rank = [&](Communicator& comm, launch::RankOutcome&) {
    GlooPeers gloo(directory.path(), comm.rank(), comm.size());
    PeerTwins twins(peers, directory.path(), comm.rank(), comm.size(), gloo.batch);
    const at::RecordFunctionGuard unmetered(false);  // nor is work counted, which costs 0.2 us per operator
    const c10::InferenceMode no_autograd;  // nor are views followed for gradients: a fifth of an all-to-all of 1 KiB
    std::vector<CollectiveRow> rows;
    for (const std::int64_t bytes : run.sizes) {
      const auto of_size = measure(collective, run, bytes, comm, gloo, twins);
      rows.insert(rows.end(), of_size.begin(), of_size.end());
    }
    if (comm.rank() == 0) write_file_atomically(rows_file, json_text(rows));
  };
  const launch::WorldOutcome outcome = launch::run_ranks(spec, launch::RankBody(on_rank));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  return from_json_text<std::vector<CollectiveRow>>(read_file(rows_file), "the rows");
}

}  // namespace lab
