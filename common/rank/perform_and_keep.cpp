#include "common/rank/perform_and_keep.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/failure.h"
#include "common/comm/messages/endpoint_of.h"

namespace lab {
namespace {

void note_failure(CaseRecord& record, CaseRecord::State state, const std::string& message, int exit_code) {
  record.results.clear();
  record.state = state;
  record.message = message;
  record.exit_code = exit_code;
}

}  // namespace

void perform_and_keep(CaseRecord record, const std::function<CaseRun()>& perform, Communicator& comm,
                      const std::function<void(const CaseRecord&)>& keep) {
  try {
    const std::size_t num_abandoned = endpoint_of(comm).abandoned().size();
    CaseRun run = perform();
    // Otherwise it would end the world only after the last case.
    const std::vector<std::string>& abandoned = endpoint_of(comm).abandoned();
    if (abandoned.size() > num_abandoned) throw ContractError(abandoned[num_abandoned]);
    record.results = std::move(run.actual);
    record.spent = std::move(run.spent);
    record.used = run.used;
    keep(record);
  } catch (const NotImplementedError& todo) {
    record.missing_task = todo.task_id();
    note_failure(record, CaseRecord::State::kNotImplemented, todo.what(), exit_code_of(todo));
    keep(record);
  } catch (const std::exception& failure) {
    note_failure(record, CaseRecord::State::kThrew, message_of(failure), exit_code_of(failure));
    keep(record);
    throw;
  } catch (...) {
    note_failure(record, CaseRecord::State::kThrew, "something that is not an exception was thrown",
                 static_cast<int>(ExitCode::kInternal));
    keep(record);
    throw;
  }
}

}  // namespace lab
