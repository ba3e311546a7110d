#include "a0_pipes/pipes.h"

int pipe(int water) {
  // TODO(a0.pipe): return what goes in.
  not_implemented("a0.pipe", water);
}
