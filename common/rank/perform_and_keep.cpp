#include "common/rank/perform_and_keep.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/failure.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/rank/measured_use.h"

namespace lab {
namespace {

/// While it lives, an endpoint's ledger holds only what was counted meanwhile.
class LedgerPeriod {
 public:
  explicit LedgerPeriod(Endpoint& endpoint)
      : endpoint_(endpoint), before_(std::exchange(endpoint.ledger(), comm::Ledger())) {}
  ~LedgerPeriod() {
    before_.add(endpoint_.ledger());
    endpoint_.ledger() = std::move(before_);
  }
  LedgerPeriod(const LedgerPeriod&) = delete;
  LedgerPeriod& operator=(const LedgerPeriod&) = delete;

 private:
  Endpoint& endpoint_;
  comm::Ledger before_;
};

/// "input.x float32 [4, 6], weight.W float32 [3, 6]"
std::string describe_shapes(const TensorMap& tensors) {
  constexpr std::size_t kMostNamed = 8;  // a model has many weights
  std::string text;
  std::size_t num_named = 0;
  for (const auto& [name, tensor] : tensors) {
    if (num_named == kMostNamed) return text + fmt::format(" and {} more", tensors.size() - kMostNamed);
    text += fmt::format("{}{} {}", num_named++ == 0 ? "" : ", ", name, describe(tensor));
  }
  return text.empty() ? "none" : text;
}

/// Refuses what cannot be compared with any expected result.
void require_plain(const std::string& result, const at::Tensor& tensor, at::Device device) {
  const bool elsewhere = !tensor.is_cpu() && tensor.device().type() != device.type();
  if (elsewhere)
    throw ResultError(
        fmt::format("result '{}' is on device {}, expected {}", result, tensor.device().str(), device.str()));
  if (tensor.is_complex() || tensor.is_quantized() || tensor.layout() != at::kStrided)
    throw ResultError(
        fmt::format("result '{}' is {}, expected a dense tensor of real numbers", result, describe(tensor)));
}

/// "a9.broadcast [BroadcastFromLast]"; "a9.broadcast [BroadcastFromLast, call 2]"
std::string text_of_call(const CaseInputs& inputs) {
  return fmt::format("{} [{}{}]", inputs.task, inputs.name,
                     inputs.call == 1 ? "" : fmt::format(", call {}", inputs.call));
}

/// What the task's call threw, as the error of exit code 7 that names the case. Null: no exception.
Error thrown_by_student(const CaseInputs& inputs, const std::exception* failure) {
  std::string what = student_message(failure);
  if (what.back() == '.') what.pop_back();
  return {ExitCode::kStudentCode,
          fmt::format("{}: {}; inputs: {}", text_of_call(inputs), what, describe_shapes(inputs.tensors))};
}

/// Fills in what the call returns and uses.
void perform(const CaseInputs& inputs, const CallTable& calls, Communicator& comm, CallSeries& series,
             CaseRecord& record) {
  const auto call = calls.find(inputs.task);
  if (call == calls.end()) throw ContractError(fmt::format("the call of task '{}' is missing", inputs.task));
  Endpoint& endpoint = get_endpoint(comm);
  const std::size_t num_abandoned = endpoint.abandoned().size();
  const LedgerPeriod period(endpoint);
  endpoint.transport().set_task(fmt::format("{}, {}", inputs.task, inputs.name));
  {
    const LedgerScope scope(endpoint, inputs.task);
    try {
      series.run([&] {
        record.used = measured_use(comm, [&] {
          record.results = call->second(comm, inputs);
          for (auto& [result, tensor] : record.results) {
            if (!tensor.defined()) continue;
            require_plain(result, tensor, inputs.device);
            tensor = tensor.cpu().detach();  // what led to a result is not part of it
          }
        });
      });
      record.used.memory.retained_bytes = series.add(inputs.tensors, record.results, inputs.is_last);
      endpoint.require_all_finished();
    } catch (const ResultError& failure) {
      throw ContractError(fmt::format("{}: {}", text_of_call(inputs), failure.what()));
    } catch (const Error&) {
      throw;
    } catch (const std::exception& failure) {
      throw thrown_by_student(inputs, &failure);
    } catch (...) {
      throw thrown_by_student(inputs, nullptr);
    }
  }
  endpoint.transport().set_task("");
  record.spent = endpoint.ledger().entries();
  // Otherwise it would end the world only after the last case.
  const std::vector<std::string>& abandoned = endpoint.abandoned();
  if (abandoned.size() > num_abandoned) throw ContractError(abandoned[num_abandoned]);
}

}  // namespace

void perform_and_keep(const CaseInputs& inputs, const CallTable& calls, Communicator& comm, CallSeries& series,
                      const std::function<void(CaseRecord)>& keep) {
  CaseRecord record;
  record.task = inputs.task;
  record.name = inputs.name;
  record.call = inputs.call;
  CaseRecord failed = record;
  try {
    perform(inputs, calls, comm, series, record);
    keep(std::move(record));
  } catch (const NotImplementedError& todo) {
    failed.end = CaseEnd::kNotImplemented;
    failed.missing_task = todo.task_id();
    failed.message = todo.what();
    failed.exit_code = choose_exit_code(todo);
    keep(std::move(failed));
  } catch (const std::exception& failure) {
    failed.end = CaseEnd::kThrew;
    failed.message = get_message(failure);
    failed.exit_code = choose_exit_code(failure);
    keep(std::move(failed));
    throw;
  }
}

}  // namespace lab
