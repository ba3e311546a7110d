#include "common/pipeline/validate.h"

#include "common/pipeline/check_actions.h"
#include "common/pipeline/deadlock.h"

namespace lab::pipeline {

void validate(const Schedule& schedule) {
  check_actions(schedule);
  // Who waits for whom does not depend on how long anything takes, so any costs will do.
  check_no_deadlock(schedule, replay(schedule, Costs{}));
}

}  // namespace lab::pipeline
