#include "common/base/take_turns.h"

#include <sched.h>

namespace lab {

void take_turns() {
  const sched_param no_priority{};
  sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

}  // namespace lab
