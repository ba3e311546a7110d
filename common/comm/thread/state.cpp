#include "common/comm/thread/state.h"

#include <cxxabi.h>
#include <torch/csrc/autograd/graph_task.h>

#include <cstring>
#include <optional>
#include <thread>

#include "common/tensor/memory_meter.h"
#include "common/tensor/work_meter.h"

namespace lab::comm {

ThreadState::ThreadState() : memory_owner_(memory_owner()), work_owner_(work_owner()) {
  // The Itanium C++ ABI (2.2.2) fixes this layout but does not expose it.
  std::memcpy(&exceptions_, abi::__cxa_get_globals(), sizeof(exceptions_));
}

ThreadState ThreadState::fresh() {
  std::optional<ThreadState> state;
  std::thread([&] { state.emplace(); }).join();
  return *state;
}

void ThreadState::put_back() const {
  at::ThreadLocalState::setThreadLocalState(torch_);
  set_memory_owner(memory_owner_);
  set_work_owner(work_owner_);
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), &exceptions_, sizeof(exceptions_));
}

bool inside_backward() {
  return torch::autograd::get_current_graph_task_exec_info() != nullptr;
}

}  // namespace lab::comm
