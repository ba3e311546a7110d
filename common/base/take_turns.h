#pragma once

namespace lab {

/// Asks the kernel not to let a waking thread of this process preempt another (threads created later inherit it), where
/// threads that take turns outnumber the cores: Gloo's device thread spins on a connection's lock while a preempted thread
/// holds it, and each message then costs a time slice of some milliseconds; simulated ranks hand over by waking the next.
/// It may be refused: the threads are then slower, not wrong.
void take_turns();

}  // namespace lab
