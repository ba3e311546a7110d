#include "optC_model_parallel/calls.h"

#include "optC_model_parallel/pipeline_calls.h"
#include "optC_model_parallel/tensor_calls.h"

namespace lab::optc {

CallTable calls() {
  CallTable table = pipeline_calls();
  table.merge(tensor_calls());
  return table;
}

}  // namespace lab::optc
