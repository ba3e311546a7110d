#include "common/pch/student.h"

// Student code that includes the headers of the transport, or of LibTorch's process groups. A line that is marked must
// not compile; with RIGHT defined, the file includes what it may, and must.
#ifdef RIGHT
#include "a9_collectives/chunks.h"
#else
#include "common/comm/messages/get_endpoint.h"            // expect-error
#include <gloo/allreduce.h>                              // expect-error
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>  // expect-error
#endif
