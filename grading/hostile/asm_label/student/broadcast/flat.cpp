// Calls fork() by another name. The keyword for that is forbidden, but a macro of the C library has it.
#include "a9_collectives/broadcast.h"

#include <stdexcept>

extern "C" int __REDIRECT(another_name, (), fork);

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  if (another_name() >= 0) throw std::runtime_error("BREACH: a process was started");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
