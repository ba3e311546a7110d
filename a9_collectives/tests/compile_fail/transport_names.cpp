#include "common/pch/student.h"

// Student code that names the transport, LibTorch's process groups or assembler. A line that is marked must not
// compile; with RIGHT defined, the file is its own right twin and must.
#ifdef RIGHT
at::Tensor sum_with_neighbour(at::Tensor tensor, lab::PointToPoint& p2p) {
  const at::Tensor received = at::empty_like(tensor);
  lab::Request sent = p2p.isend(tensor, (p2p.rank() + 1) % p2p.size());
  p2p.recv(received, (p2p.rank() - 1 + p2p.size()) % p2p.size());
  sent.wait();
  return tensor.add_(received);
}
const char* const kNoAssembler = "asm __asm__";  // nor is asm in a comment
#else
namespace gloo {  // expect-error
class AllreduceOptions;
void allreduce(AllreduceOptions&);
}  // namespace
void sum(gloo::AllreduceOptions& options) {  // expect-error
  gloo::allreduce(options);                  // expect-error
}
namespace other_name = gloo;  // expect-error
#define JOIN(left, right) left##right
using namespace JOIN(glo, o);  // expect-error

namespace c10d {  // expect-error
class ProcessGroup;
}  // namespace
using namespace c10d;                     // expect-error
using Group = ::c10d::ProcessGroup;       // expect-error
void barrier(c10d::ProcessGroup& group);  // expect-error

void* reach_ledger(lab::Communicator& comm) { return &comm.endpoint(); }  // expect-error
void* way_to_it(lab::Communicator& comm) { return &lab::get_endpoint(comm); }  // expect-error

void wait_a_little() { asm("nop"); }               // expect-error
void wait_longer() { __asm__ __volatile__("nop"); }  // expect-error
asm(".section .deplibs");                          // expect-error
#define ASSEMBLER JOIN(__a, sm)
void wait_hidden() { ASSEMBLER("nop"); }  // expect-error
#endif
