#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gloo/transport/unbound_buffer.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/bench/machine_load.h"
#include "common/bench/raw_gloo.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/run_directory.h"
#include "common/tensor/compute_threads.h"

// Ping-pong between two processes: this suite's checked messages compared with bare Gloo, alternating within one run.
namespace lab {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds per one-way message in the fastest block of each kind: noise only adds time.
struct Pair {
  double ours;
  double raw;
};

Pair measure(PointToPoint& p2p, gloo::Context& context, std::int64_t num_bytes, int turns, int rounds) {
  const int peer = 1 - p2p.rank();
  const at::Tensor data = at::zeros({num_bytes}, at::kByte);
  const auto buffer = context.createUnboundBuffer(data.data_ptr(), static_cast<std::size_t>(num_bytes));
  const auto ours = [&] {
    // Ping-pong: a round is over when the message has come back to rank 0.
    for (int i = 0; i < rounds; ++i) {
      if (p2p.rank() == 0) p2p.send(data, peer);
      p2p.recv(data, peer);
      if (p2p.rank() == 1) p2p.send(data, peer);
    }
  };
  const auto raw = [&] {
    // Gloo itself plays the same ping-pong, without this library on top.
    for (int i = 0; i < rounds; ++i) {
      if (p2p.rank() == 0) {
        buffer->send(peer, 1);
        buffer->waitSend();
      }
      buffer->recv(peer, 1);
      buffer->waitRecv();
      if (p2p.rank() == 1) {
        buffer->send(peer, 1);
        buffer->waitSend();
      }
    }
  };
  const auto per_message = [&](const auto& block) {
    const double start = seconds_now();
    block();
    return (seconds_now() - start) / (2 * rounds);
  };
  per_message(ours);
  per_message(raw);
  Pair best{1e9, 1e9};
  for (int turn = 0; turn < turns; ++turn) {
    best.ours = std::min(best.ours, per_message(ours));
    best.raw = std::min(best.raw, per_message(raw));
  }
  return best;
}

ExitCode run(int argc, char** argv) {
  use_threads(1);
  cli::App app("bench_p2p", "Ping-pong between two processes: checked messages against bare Gloo, in one run.");
  int turns = 15;
  std::string transport = "gloo";
  app.add_transport(transport, "Ours: over Gloo or through shared memory");
  app.add_integer("--turns", turns, {1, 1000}, "blocks of each kind; the quickest counts");
  if (const auto done = app.parse(argc, argv)) return *done;

  const launch::RunDirectory directory;
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.transport = comm::transport_named(transport);
  spec.num_ranks = 2;
  spec.timeout_seconds = 60;
  const MachineLoad load;
  const launch::WorldOutcome outcome = launch::run_ranks(
      spec, launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
        const auto context = raw_gloo(directory.path(), comm.rank(), 2);
        if (comm.rank() == 0) fmt::print("{:>10} {:>14} {:>14} {:>8}\n", "bytes", "ours us", "raw Gloo us", "ratio");
        for (const std::int64_t num_bytes : {4LL, 1LL << 10, 4LL << 10, 64LL << 10, 1LL << 20, 64LL << 20}) {
          const int rounds = num_bytes <= (64 << 10) ? 300 : num_bytes <= (1 << 20) ? 40 : 2;
          const Pair pair = measure(comm.point_to_point(), *context, num_bytes, turns, rounds);
          if (comm.rank() == 0) {
            fmt::print("{:>10} {:>14.1f} {:>14.1f} {:>8.2f}\n", num_bytes, pair.ours * 1e6, pair.raw * 1e6,
                       pair.ours / pair.raw);
            std::fflush(stdout);
          }
        }
      }));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  const int exit_code = lab::cli::guarded_main(argc, argv, lab::run);
  std::fflush(nullptr);
  _exit(exit_code);
}
