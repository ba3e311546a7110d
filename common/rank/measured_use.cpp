#include "common/rank/measured_use.h"

#include "common/comm/messages/endpoint_of.h"
#include "common/comm/messages/model_time.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"

namespace lab {

ResourceUse measured_use(Communicator& comm, const std::function<void()>& body) {
  endpoint_of(comm).restart_clock();
  const MemoryScope memory;
  const WorkScope work;
  body();
  return {work.flops(), memory.reading(), endpoint_of(comm).model_time()};
}

ResourceUse measured_use_of_one_process(const std::function<void()>& body) {
  const UnchargedScope not_held_by_this_rank;
  const UncountedWork not_done_by_this_rank;
  const MemoryScope memory;
  const WorkScope work;
  body();
  return {work.flops(), {memory.reading().peak_bytes, 0}, comm::model_time_of(work.flops())};
}

}  // namespace lab
