#include "common/rank/task_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/failure.h"
#include "common/comm/messages/endpoint_of.h"
#include "common/rank/measured_use.h"
#include "common/tensor/describe.h"

namespace lab {
namespace {

template <typename Map>
const typename Map::mapped_type& require(const Map& map, const std::string& name, const char* what) {
  const auto found = map.find(name);
  if (found == map.end()) throw ContractError(fmt::format("{} '{}' is missing", what, name));
  return found->second;
}

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
std::string shapes_of(const TensorMap& tensors) {
  constexpr std::size_t kMostNamed = 8;  // a model has many weights
  std::string text;
  std::size_t num_named = 0;
  for (const auto& [name, tensor] : tensors) {
    if (num_named == kMostNamed) return text + fmt::format(" and {} more", tensors.size() - kMostNamed);
    text += fmt::format("{}{} {}", num_named++ == 0 ? "" : ", ", name, describe(tensor));
  }
  return text.empty() ? "none" : text;
}

/// The bytes of the storages that these results refer to and the inputs do not, each once.
std::int64_t bytes_of_results(const TensorMap& results, const TensorMap& inputs) {
  std::set<const void*> counted;
  for (const auto& [name, tensor] : inputs) {
    if (tensor.defined()) counted.insert(tensor.storage().data());
  }
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : results) {
    if (tensor.defined() && counted.insert(tensor.storage().data()).second)
      bytes += static_cast<std::int64_t>(tensor.storage().nbytes());
  }
  return bytes;
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

/// What the task's call threw, as the error of exit code 7 that names the case. Null: no exception.
Error thrown_by_student(const std::string& task, const std::string& name, const CaseInputs& inputs,
                        const std::exception* failure) {
  std::string what = student_message(failure);
  if (what.back() == '.') what.pop_back();
  return {ExitCode::kStudentCode, fmt::format("{} [{}]: {}; inputs: {}", task, name, what, shapes_of(inputs.tensors))};
}

}  // namespace

const at::Tensor& CaseInputs::tensor(const std::string& name) const {
  return require(tensors, name, "input tensor");
}
double CaseInputs::number(const std::string& name) const {
  return require(numbers, name, "input number");
}
std::int64_t CaseInputs::integer(const std::string& name) const {
  return static_cast<std::int64_t>(number(name));
}

CaseRun perform_call(const CallTable& calls, const std::string& task, const std::string& name, CaseInputs inputs,
                     Communicator& comm) {
  const TaskCall& call = require(calls, task, "the call of task");
  CaseRun run;
  run.inputs = std::move(inputs);
  const LedgerPeriod period(endpoint_of(comm));
  endpoint_of(comm).transport().set_task(fmt::format("{}, {}", task, name));
  {
    const LedgerScope scope(endpoint_of(comm), task);
    try {
      run.used = measured_use(comm, [&] {
        run.actual = call(comm, run.inputs);
        for (auto& [result, tensor] : run.actual) {
          if (!tensor.defined()) continue;
          require_plain(result, tensor, run.inputs.device);
          tensor = tensor.cpu().detach();  // what led to a result is not part of it
        }
      });
      const std::int64_t returned = bytes_of_results(run.actual, run.inputs.tensors);
      run.used.retained_bytes = std::max<std::int64_t>(0, run.used.retained_bytes - returned);
      endpoint_of(comm).require_all_finished();
    } catch (const ResultError& failure) {
      throw ContractError(fmt::format("{} [{}]: {}", task, name, failure.what()));
    } catch (const Error&) {
      throw;
    } catch (const std::exception& failure) {
      throw thrown_by_student(task, name, run.inputs, &failure);
    } catch (...) {
      throw thrown_by_student(task, name, run.inputs, nullptr);
    }
  }
  endpoint_of(comm).transport().set_task("");
  run.spent = endpoint_of(comm).ledger().entries();
  return run;
}

}  // namespace lab
