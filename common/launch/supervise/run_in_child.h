#pragma once

#include <functional>
#include <string>

namespace lab {

/// Runs body in a process of its own, which has ended when this returns: for work that must leave nothing behind in
/// this process, such as memory or a thread pool, before ranks are forked from it. Nor does body's result stay: what it
/// is to hand over goes into a file.
/// Call      from the main thread, before any other thread is started (fork_rank). blocking, without a time limit: body
///           may set itself one, with alarm()
/// Errors    a lab::Error that body throws: the same message and exit code; the child prints nothing of it
///           Error with ExitCode::kInternal: body throws anything else, or ends its process by itself
///           Error with 128 + signal: this process got SIGINT, SIGTERM, SIGHUP or SIGQUIT meanwhile; the child is dead
///           CommError: "WHAT was killed by signal 9 (SIGKILL)"
///           UsageError: the system refuses another process
/// Example   run_in_child("reading the images", [&] { load_cifar(folder); });
void run_in_child(const std::string& what, const std::function<void()>& body);

}  // namespace lab
