#include "b1_total/calls/calls.h"

#include "b1_total/total.h"

namespace lab::b1 {

CallTable calls() {
  return {{"b1.total", [](Communicator& comm, const CaseInputs& inputs) {
             return TensorMap{{"out", total(inputs.tensor("input.x"), comm.point_to_point())}};
           }}};
}

}  // namespace lab::b1
