#include "common/api/point_to_point.h"

// Every line marked expect-error must not compile; with RIGHT defined, the file is its own right twin and must.
void exchange(lab::PointToPoint& p2p, at::Tensor tensor) {
#ifdef RIGHT
  p2p.isend(tensor, 1).wait();
  lab::Request request = p2p.irecv(tensor, 1);
  request.wait();
  lab::Request moved = p2p.isend(tensor, 1);
  lab::Request other = std::move(moved);
  other.wait();
#else
  p2p.isend(tensor, 1);  // expect-error
  p2p.irecv(tensor, 1);  // expect-error
  lab::Request moved = p2p.isend(tensor, 1);
  lab::Request other = moved;  // expect-error
#endif
}
