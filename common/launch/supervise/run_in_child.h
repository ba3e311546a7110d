#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lab::launch {

/// Runs body in a separate process, which has ended when this returns: for work that must leave nothing behind in this
/// process, such as memory or a thread pool, before ranks are forked from it. body's result is lost too: it must write
/// to a file whatever the caller needs.
/// Call      from the main thread, before any other thread is started (fork_process). Blocking, without a time limit: body
///           may set one with alarm()
/// Errors    a lab::Error that body throws: the same message and exit code; the child does not print it
///           Error with ExitCode::kInternal: body throws anything else, or ends its process by itself
///           Error with 128 + signal: this process got SIGINT, SIGTERM, SIGHUP or SIGQUIT meanwhile; the child is dead
///           CommError: "WHAT was killed by signal 9 (SIGKILL)"
///           UsageError: the process cannot be created
/// Example   run_in_child("reading the images", [&] { load_cifar(folder); });
void run_in_child(const std::string& what, const std::function<void()>& body);

struct ChildWork {
  std::string what;
  std::function<void()> body;
};

/// The same for some at once, each in a process of its own. All have ended when this returns or throws.
/// Errors    of the first of them that fails
void run_in_children(const std::vector<ChildWork>& works);

}  // namespace lab::launch
