#include "common/demo/commands.h"
#include "common/launch/run_ranks.h"

namespace lab::demo {
namespace {

/// Each of two ranks sends, then receives: a send ends once the other rank has begun to receive, which neither does.
void exchange(PointToPoint& p2p) {
  const int peer = 1 - p2p.rank();
  const at::Tensor mine = at::full({1024}, p2p.rank(), at::kFloat);
  const at::Tensor theirs = at::empty({1024});
  p2p.send(mine, peer);
  p2p.recv(theirs, peer);
}

ExitCode both_send(double timeout_seconds) {
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = 2;
  spec.timeout_seconds = timeout_seconds;
  const launch::WorldOutcome outcome = launch::run_ranks(
      spec, launch::RankBody([](Communicator& comm, launch::RankOutcome&) { exchange(comm.point_to_point()); }));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  return ExitCode::kAllMatch;
}

}  // namespace

void both_send_command(cli::App& app) {
  double& timeout_seconds = app.own(10.0);
  app.add_timeout(timeout_seconds);
  app.set_action([&] { return both_send(timeout_seconds); });
}

}  // namespace lab::demo
