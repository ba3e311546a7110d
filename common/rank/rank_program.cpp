#include "common/rank/rank_program.h"

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "common/base/stack/student_place.h"
#include "common/comm/relay/relay_world.h"
#include "common/launch/one_rank.h"
#include "common/rank/perform_and_keep.h"
#include "common/rank/sent_tensors.h"
#include "common/rank/start/rank_server.h"

namespace lab {
namespace {

/// Performs one case after the other, as they are sent.
int run_rank(const comm::RelayEnd& end, CallTable (*calls)()) {
  launch::install_meters();
  launch::keep_freed_memory();
  const CallTable table = calls();
  launch::WorldSpec spec;
  spec.num_ranks = end.transport->size();
  launch::RankOutcome outcome;
  launch::run_one_rank(
      end.transport, end.collectives, spec,
      [&](Communicator& comm, launch::RankOutcome&) {
        std::optional<CallSeries> series;
        while (const std::optional<std::string> bytes = end.next_work()) {
          const CaseInputs inputs = inputs_from_bytes(*bytes);
          if (inputs.call == 1) {
            series.reset();  // before a new one: each restores what owned this thread's memory
            series.emplace();
          }
          const SentTensors sent(inputs);
          perform_and_keep(inputs, table, comm, *series,
                           [&](const CaseRecord& record) { end.return_result(bytes_of_record(record)); });
        }
      },
      outcome);
  return outcome.failure ? outcome.failure->exit_code : 0;
}

}  // namespace

void rank_program(CallTable (*calls)()) {
  const RankSeat& seat = rank_seat();
  const FollowedThread followed(nullptr, seat.rank);
  const int exit_code = run_rank(comm::RelayWorld::join_by(seat.relay, seat.rank, seat.size, seat.shaken), calls);
  std::fflush(nullptr);
  // Exit handlers and destructors may be student code.
  ::_exit(exit_code);
}

}  // namespace lab
