#include "common/comm/messages/agreement.h"

#include <algorithm>

#include "common/comm/batch_isend_irecv.h"

namespace lab::comm {

std::int64_t agree(Transport& transport, const Group& group, const std::string& operation, const at::Tensor& tensor,
                   SourceLine where, std::int64_t model_time) {
  // Dissemination: a rank that completes the last round has heard, indirectly, from all ranks; one that sees a
  // difference stops sending.
  std::int64_t latest = model_time;
  for (int distance = 1; distance < group.size(); distance *= 2) {
    BatchIsendIrecv step(transport, group, operation, where);
    step.send_contract(tensor, (group.rank + distance) % group.size(), latest);
    step.recv_contract(tensor, (group.rank - distance + group.size()) % group.size());
    step.wait();
    latest = std::max(latest, step.latest_model_time());
  }
  return latest;
}

}  // namespace lab::comm
