#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace lab {

class WorkAccount;

struct WorkReading {
  std::int64_t flops = 0;
  std::map<std::string, std::int64_t> by_operator;  ///< such as "aten::addmm"; only operators that were counted
};

/// Counts the floating-point operations of LibTorch's operators from now on, in the scopes below. The number of
/// each follows from shapes alone: the same with any number of threads, any load and any strides.
/// Call      once per process, before a second thread works with tensors; a further call does nothing. Never undone:
///           LibTorch has one list of callbacks that every thread runs.
/// Counted   what work_table.h lists. An operator that is not in it counts nothing itself, but the operators that it
///           calls do, as LibTorch chooses them: matmul counts as mm or bmm. Of operators inside each other only the
///           outermost one in the table counts. One that throws counts as if it had returned.
/// Backward  the operators of the backward pass, and the additions (aten::add_) by which gradients are accumulated. A
///           graph on the CPU runs on the thread that called backward(), and is counted there; one on a GPU does not,
///           and is not counted.
/// Cost      about 0.2 us per operator, mostly LibTorch's own for any callback; in no scope, too
void install_work_meter();

/// The account that this thread's work is counted in: the innermost WorkScope's, or null.
WorkAccount* work_owner();
void set_work_owner(WorkAccount* owner);

/// While it lives, counts the operators that its thread calls; not those of other threads. A scope inside another one
/// counts in both.
/// Call      all on one thread, last created first destroyed; one per rank
/// Errors    ContractError: the meter is not installed
/// Example   WorkScope scope; at::mm(at::ones({2, 3}), at::ones({3, 4})); scope.flops(): 48
class WorkScope {
 public:
  WorkScope();
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

  WorkReading reading() const;

  /// The same sum, in no time: for each message of a rank.
  std::int64_t flops() const;

 private:
  WorkAccount* const outer_;
  const std::unique_ptr<WorkAccount> account_;
};

/// While it lives, its thread's work is not counted, except in scopes inside it: for work that is not part of what the
/// thread's owner is measured for.
class UncountedWork {
 public:
  UncountedWork() : owner_(work_owner()) { set_work_owner(nullptr); }
  ~UncountedWork() { set_work_owner(owner_); }
  UncountedWork(const UncountedWork&) = delete;
  UncountedWork& operator=(const UncountedWork&) = delete;

 private:
  WorkAccount* const owner_;
};

}  // namespace lab
