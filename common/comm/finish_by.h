#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace lab::comm {

/// Runs `work`, which may block indefinitely (a name lookup, another library's client), on its own thread and returns
/// its result, or nothing if the deadline passes first. The thread is then left running: `work` must own everything it
/// uses, and the process must end by _exit, as every rank does. Errors: those of work.
template <typename Work>
auto finish_by(std::chrono::steady_clock::time_point deadline, Work work) -> std::optional<decltype(work())> {
  auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
  auto result = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (result.wait_until(deadline) != std::future_status::ready) return std::nullopt;
  return result.get();
}

}  // namespace lab::comm
