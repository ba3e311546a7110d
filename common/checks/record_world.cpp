#include "common/checks/record_world.h"

#include <exception>
#include <utility>

#include "common/base/errors.h"
#include "common/base/failure.h"

namespace lab {
namespace {

void note_failure(CaseRecord& record, CaseRecord::State state, const std::string& words, int exit_code) {
  record.results.clear();
  record.state = state;
  record.words = words;
  record.exit_code = exit_code;
}

/// Performs the case and writes its record, however it ends. A TODO does not end the run.
void perform_into(CaseRecord& record, const Case& test_case, const CallTable& calls, Communicator& comm,
                  std::uint64_t seed, int descriptor) {
  try {
    const std::size_t num_abandoned = comm.endpoint().abandoned().size();
    CaseRun run = perform_case(test_case, calls, comm, seed);
    // Otherwise it would end the world only after the last case.
    const std::vector<std::string>& abandoned = comm.endpoint().abandoned();
    if (abandoned.size() > num_abandoned) throw ContractError(abandoned[num_abandoned]);
    record.results = std::move(run.actual);
    record.spent = std::move(run.spent);
    write_record(descriptor, record);
  } catch (const NotImplementedError& todo) {
    record.missing_task = todo.task_id();
    note_failure(record, CaseRecord::State::kNotImplemented, todo.what(), exit_code_of(todo));
    write_record(descriptor, record);
  } catch (const std::exception& failure) {
    note_failure(record, CaseRecord::State::kThrew, message_of(failure), exit_code_of(failure));
    write_record(descriptor, record);
    throw;
  } catch (...) {
    note_failure(record, CaseRecord::State::kThrew, "something that is not an exception was thrown",
                 static_cast<int>(ExitCode::kInternal));
    write_record(descriptor, record);
    throw;
  }
}

}  // namespace

void perform_and_record(const std::vector<Case>& cases, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                        int descriptor) {
  for (const Case& test_case : cases) {
    if (!is_asked(test_case, comm.rank())) continue;
    CaseRecord record;
    record.task = test_case.task;
    record.name = test_case.name;
    const std::string reason = skip_reason_of(test_case, comm.size());
    if (reason.empty()) {
      perform_into(record, test_case, calls, comm, seed, descriptor);
    } else {
      note_failure(record, CaseRecord::State::kSkipped, reason, 0);
      write_record(descriptor, record);
    }
  }
}

WorldOutcome run_record_world(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& spec,
                              std::uint64_t seed, const std::vector<int>& descriptors) {
  return run_ranks(spec, RankBody([&](Communicator& comm, RankOutcome&) {
                     perform_and_record(cases, calls, comm, seed, descriptors[static_cast<std::size_t>(comm.rank())]);
                   }));
}

}  // namespace lab
