#include "a0_pipes/pipes.h"

int valve(int water, bool open) {
  // TODO(a0.valve): return what goes in, if it is open.
  not_implemented("a0.valve", water, open);
}
