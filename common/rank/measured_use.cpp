#include "common/rank/measured_use.h"

#include "common/comm/messages/get_endpoint.h"
#include "common/comm/messages/model_time.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"

namespace lab {

ResourceUse measured_use(Communicator& comm, const std::function<void()>& body) {
  get_endpoint(comm).restart_clock();
  const MemoryScope memory;
  const WorkScope work;
  body();
  return {work.flops(), memory.reading(), get_endpoint(comm).model_time()};
}

ResourceUse measured_use_of_one_process(const std::function<void()>& body) {
  const UnchargedScope not_held_by_this_rank;
  const UncountedWork not_done_by_this_rank;
  const MemoryScope memory;
  const WorkScope work;
  body();
  return {work.flops(), {memory.reading().peak_bytes, 0}, comm::bound_model_time(work.flops())};
}

}  // namespace lab
