#include "common/tensor/meters/work_meter.h"

#include <ATen/record_function.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "common/api/errors.h"
#include "common/tensor/meters/work_table.h"

// RecordFunction::inputs() asserts a flag that only a LibTorch with assertions sets.
#ifndef NDEBUG
#error "compile this file with NDEBUG"
#endif

namespace lab {

/// What one owner's operators have counted, and how deep inside a counted one its thread is. Used on one thread at a
/// time. Whatever is counted here is counted in `outer`, which lives longer, too.
class WorkAccount {
 public:
  explicit WorkAccount(WorkAccount* outer) : outer_(outer), by_row_(work_table().size()) {}

  void enter(const at::RecordFunction& call);
  void leave() { depth_ -= depth_ > 0 ? 1 : 0; }

  std::int64_t flops() const { return flops_; }
  WorkReading reading() const;

 private:
  WorkAccount* const outer_;
  std::int64_t flops_ = 0;
  std::vector<std::int64_t> by_row_;
  int depth_ = 0;  // operators entered and not left, from the outermost counted one on
};

void WorkAccount::enter(const at::RecordFunction& call) {
  if (depth_ > 0) {
    ++depth_;
    return;
  }
  const int row = find_work_row(call.name());
  if (row < 0) return;
  const auto place = static_cast<std::size_t>(row);
  const std::int64_t flops = work_table()[place].flops(call.inputs());
  for (WorkAccount* account = this; account != nullptr; account = account->outer_) {
    account->flops_ += flops;
    account->by_row_[place] += flops;
  }
  depth_ = 1;
}

WorkReading WorkAccount::reading() const {
  WorkReading reading;
  reading.flops = flops_;
  for (std::size_t row = 0; row < by_row_.size(); ++row) {
    if (by_row_[row] != 0) reading.by_operator[work_table()[row].name] = by_row_[row];
  }
  return reading;
}

namespace {

thread_local WorkAccount* work_owner_of_this_thread = nullptr;

std::atomic<bool> work_meter_installed{false};

std::unique_ptr<at::ObserverContext> enter_operator(const at::RecordFunction& call) {
  if (work_owner_of_this_thread != nullptr) work_owner_of_this_thread->enter(call);
  return nullptr;
}

void leave_operator(const at::RecordFunction& /*call*/, at::ObserverContext* /*context*/) {
  if (work_owner_of_this_thread != nullptr) work_owner_of_this_thread->leave();
}

std::unique_ptr<WorkAccount> open_work_account(WorkAccount* outer) {
  if (!work_meter_installed.load(std::memory_order_acquire)) {
    throw ContractError("A WorkScope counts nothing before install_work_meter() was called.");
  }
  return std::make_unique<WorkAccount>(outer);
}

}  // namespace

void install_work_meter() {
  static std::once_flag once;
  std::call_once(once, [] {
    at::addGlobalCallback(at::RecordFunctionCallback(enter_operator, leave_operator)
                              .needsInputs(true)
                              .scopes({at::RecordScope::FUNCTION}));
    work_meter_installed.store(true, std::memory_order_release);
  });
}

WorkAccount* work_owner() {
  return work_owner_of_this_thread;
}

void set_work_owner(WorkAccount* owner) {
  work_owner_of_this_thread = owner;
}

WorkScope::WorkScope() : outer_(work_owner_of_this_thread), account_(open_work_account(outer_)) {
  work_owner_of_this_thread = account_.get();
}

WorkScope::~WorkScope() {
  work_owner_of_this_thread = outer_;
}

WorkReading WorkScope::reading() const {
  return account_->reading();
}

std::int64_t WorkScope::flops() const {
  return account_->flops();
}

}  // namespace lab
