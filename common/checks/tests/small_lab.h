#pragma once

#include "common/checks/case.h"

// A lab for tests: a few tasks on exact data, and their right solutions.
namespace lab::testing {

/// One task's only case, and a right call of it.
struct SmallTask {
  Case test_case;
  TaskCall right;
};

SmallTask sum_task();      ///< "out" and "x", in place: the sum over ranks of "input.x", [12, 3]
SmallTask product_task();  ///< "out": the sum over ranks of a * b
SmallTask gather_task();   ///< "out": the ranks' "input.x", [2, 3], along dim 0; "x" as it was
SmallTask scatter_task();  ///< "out": this rank's part, [3, 2], of the sum over ranks of "input.x", [3 P, 2]
SmallTask row_task();      ///< "out": the sum over ranks of x W, and "weight.bias" once; "x.grad"
SmallTask update_task();   ///< "W": "weight.W" less half the mean over ranks of "input.grad"
SmallTask count_task();    ///< "W.grad", on rank 0 only: the mean of "micro_batches" pieces
SmallTask stencil_task();  ///< "out": in a picture whose columns are spread over ranks, each plus its two neighbours

/// The sum over ranks of a tensor, on a copy.
at::Tensor summed(Communicator& comm, const at::Tensor& tensor);

/// This rank's "input.x".
at::Tensor read_x(const CaseInputs& inputs);

}  // namespace lab::testing
