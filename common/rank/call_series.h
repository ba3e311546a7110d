#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/rank/task_call.h"
#include "common/tensor/meters/memory_meter.h"

namespace lab {

/// The calls of one case on this rank, one after the other in one process: a right one leaves nothing behind but its
/// results, and leaves what others got and returned as it is.
/// Call      created and destroyed on the rank's thread, outside any call
class CallSeries {
 public:
  CallSeries();
  CallSeries(const CallSeries&) = delete;
  CallSeries& operator=(const CallSeries&) = delete;

  /// Runs `body`, such that what it allocates counts as held by the series.
  void run(const std::function<void()>& body) const;

  /// Takes a call's inputs and results, once it has returned and been measured. `is_last`: no other will be compared with
  /// them.
  /// Returns   the bytes of tensors that live on, made by some call, beyond all results: more than after the calls before
  /// Errors    ResultError: a result is in the memory of an earlier call's; an earlier call's results or inputs have
  ///           changed since
  std::int64_t add(const TensorMap& inputs, const TensorMap& results, bool is_last = false);

 private:
  /// What a call got and returned, and copies of it.
  struct Call {
    TensorMap inputs, results, inputs_then, results_then;
  };

  void require_untouched() const;
  void require_own_memory(const TensorMap& results) const;
  std::int64_t bytes_of_results() const;

  MemoryAccount* const outer_;
  const MemoryScope made_;
  MemoryAccount* const account_;
  std::vector<Call> calls_;
  std::int64_t retained_bytes_ = 0;
};

}  // namespace lab
