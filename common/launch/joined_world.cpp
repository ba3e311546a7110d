#include "common/launch/joined_world.h"

#include <cstring>

#include "common/comm/messages/get_endpoint.h"
#include "common/launch/one_rank.h"
#include "common/launch/outcome_files.h"
#include "common/launch/supervise/cores.h"
#include "common/tensor/compute_threads.h"

namespace lab::launch {
namespace {

at::Tensor view_bytes(const std::string& text) {
  const at::Tensor bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

std::string get_text(const at::Tensor& bytes) {
  return std::string(static_cast<const char*>(bytes.data_ptr()), static_cast<std::size_t>(bytes.numel()));
}

/// Every other rank sends its outcome, without tensors, to rank 0, in a separate group to keep it apart from the body's
/// messages.
std::vector<RankOutcome> gather(Communicator& comm, const RankOutcome& own) {
  std::vector<int> everyone = comm.group().world_ranks;
  Communicator reporters = comm.subgroup(everyone);
  PointToPoint& p2p = reporters.point_to_point();
  if (comm.rank() != 0) {
    RankOutcome facts = own;
    facts.tensors.clear();
    const at::Tensor bytes = view_bytes(bytes_of_outcome(facts));
    p2p.send(at::full({1}, bytes.numel()), 0);
    p2p.send(bytes, 0);
    return {};
  }
  std::vector<RankOutcome> all;
  // Rank 0 takes each rank's length first, then as many bytes of its outcome.
  for (int rank = 1; rank < comm.size(); ++rank) {
    const at::Tensor length = at::zeros({1}, at::kLong);
    p2p.recv(length, rank);
    const at::Tensor bytes = at::empty({length.item<std::int64_t>()}, at::kByte);
    p2p.recv(bytes, rank);
    all.push_back(outcome_from_bytes(get_text(bytes)));
  }
  return all;
}

}  // namespace

WorldOutcome join_world(const RankEnvironment& environment, const WorldSpec& spec, const RankBody& body) {
  install_meters();
  use_threads(threads_per_rank(environment.local_size, environment.allotted_cores));
  comm::ProcessWorldOptions options;
  options.rank = environment.rank;
  options.size = environment.size;
  options.timeout_seconds = spec.timeout_seconds;
  options.event_file = environment.event_file;
  options.fingerprint = spec.fingerprint;
  options.rendezvous.socket_path = environment.rendezvous_socket;
  options.rendezvous.host = environment.master_addr;
  options.rendezvous.port = environment.master_port;
  options.rendezvous.token = environment.token;
  options.rendezvous.agent_store = environment.agent_store;
  options.rendezvous.attempt = environment.attempt;

  std::vector<RankOutcome> others;
  ModelTime model_time;  // without what gathering takes
  WorldOutcome outcome;
  outcome.ranks.push_back(run_process_rank(options, spec, [&](Communicator& comm, RankOutcome& own) {
    body(comm, own);
    own.report.rank = comm.rank();
    own.report.ledger = get_endpoint(comm).ledger().entries();
    own.report.model_time_ps = model_time = get_endpoint(comm).model_time();
    own.trace = get_endpoint(comm).trace();
    others = gather(comm, own);
  }));
  if (!outcome.ranks[0].failure) outcome.ranks[0].report.model_time_ps = model_time;
  outcome.failure = outcome.ranks[0].failure;
  for (RankOutcome& other : others) outcome.ranks.push_back(std::move(other));
  return outcome;
}

}  // namespace lab::launch
