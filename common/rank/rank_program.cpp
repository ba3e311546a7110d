#include "common/rank/rank_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "common/base/errors.h"
#include "common/base/option_value.h"
#include "common/comm/relay/relay_world.h"
#include "common/launch/one_rank.h"
#include "common/rank/parcel.h"
#include "common/rank/perform_and_keep.h"
#include "common/tensor/memory_meter.h"

namespace lab {
namespace {

/// Performs one case after the other, as they are sent.
int run_rank(const comm::RelayEnd& end, CallTable (*calls)()) {
  launch::use_threads(1);
  install_memory_meter();
  const CallTable table = calls();
  launch::WorldSpec spec;
  spec.num_ranks = end.transport->size();
  launch::RankOutcome outcome;
  launch::run_one_rank(
      end.transport, end.collectives, spec,
      [&](Communicator& comm, launch::RankOutcome&) {
        while (const std::optional<std::string> bytes = end.next_work()) {
          Parcel parcel = parcel_from_bytes(*bytes);
          CaseRecord record;
          record.task = parcel.task;
          record.name = parcel.name;
          perform_and_keep(
              record, [&] { return perform_call(table, record.task, record.name, std::move(parcel.inputs), comm); },
              comm, [&](const CaseRecord& kept) { end.hand_in(bytes_of_record(kept)); });
        }
      },
      outcome);
  return outcome.failure ? outcome.failure->exit_code : 0;
}

}  // namespace

void rank_program(int argc, char** argv, CallTable (*calls)()) {
  if (argc == 2 && std::string(argv[1]) == "--version") {
    fmt::print("a judged rank\n");
    std::fflush(stdout);
    ::_exit(0);
  }
  std::optional<int> rank, size, descriptor;
  if (argc == 4 || argc == 5) {
    rank = option::integer<int>(argv[1]);
    size = option::integer<int>(argv[2]);
    descriptor = option::integer<int>(argv[3]);
  }
  if (!rank || !size || !descriptor) {
    fmt::print(stderr, "error: expected RANK SIZE DESCRIPTOR [shaken]: the judge starts this program\n");
    std::fflush(stderr);
    ::_exit(static_cast<int>(ExitCode::kUsage));
  }
  const int exit_code = run_rank(comm::RelayWorld::join_by(*descriptor, *rank, *size, argc == 5), calls);
  std::fflush(nullptr);
  // Exit handlers and destructors may be student code.
  ::_exit(exit_code);
}

}  // namespace lab
