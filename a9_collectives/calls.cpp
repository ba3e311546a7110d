#include "a9_collectives/calls.h"

#include "a9_collectives/collective_calls.h"
#include "a9_collectives/transformer_calls.h"

namespace lab::a9 {

CallTable calls() {
  CallTable all = collective_calls();
  all.merge(transformer_calls());
  return all;
}

}  // namespace lab::a9
