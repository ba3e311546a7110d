#pragma once

#include "common/comm/process_world.h"
#include "common/launch/run_ranks.h"

namespace lab::launch {

/// Installs the meters of memory and work: before run_one_rank(), and before a second thread works with tensors.
void install_meters();

/// Runs body as this rank of a world: makes its communicator, shuts down in order, and turns any exception into the
/// outcome's failure, which all other ranks are told. Never throws.
void run_one_rank(const std::shared_ptr<comm::Transport>& transport,
                  const std::shared_ptr<comm::CollectiveBackend>& collectives, const WorldSpec& spec,
                  const RankBody& body, RankOutcome& outcome);

/// The same for a rank that is this process; `options` are completed from the spec. Rendezvous errors also go into the
/// outcome.
RankOutcome run_process_rank(comm::ProcessWorldOptions options, const WorldSpec& spec, const RankBody& body);

/// Keeps freed memory in this process. A large tensor would otherwise be returned to the kernel each time, and each new
/// one zeroed page by page before a byte of it is received: half the time of a large collective.
void keep_freed_memory();

/// From now on LibTorch computes with its own kernels only: oneDNN's compiler writes machine code, which a judged rank may
/// not. They need more memory for a convolution, on which bounds depend.
void compute_without_onednn();

}  // namespace lab::launch
