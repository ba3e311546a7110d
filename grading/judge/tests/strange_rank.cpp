#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "common/base/errors.h"
#include "common/comm/relay/relay_world.h"
#include "common/rank/rank_program.h"
#include "common/rank/record.h"

// A rank's program whose tasks behave as submissions might: case_world_test.cpp asks for them.
namespace lab::grading {
namespace {

int descriptor = -1;  // of the relay

TensorMap doubled(Communicator&, const CaseInputs& inputs) {
  return {{"y", 2 * inputs.tensor("x")}};
}

/// Hands in these bytes before its own result.
TaskCall handing_in(const std::string& bytes) {
  return [bytes](Communicator& comm, const CaseInputs& inputs) {
    comm::RelayWorld::join_by(::dup(descriptor), comm.rank(), comm.size()).hand_in(bytes);
    return doubled(comm, inputs);
  };
}

std::string record_of(const std::string& task, const std::string& name) {
  CaseRecord record;
  record.task = task;
  record.name = name;
  return bytes_of_record(record);
}

TensorMap prints(Communicator&, const CaseInputs&) {
  std::puts("[Double][Rank 0] Tensors match: True");
  std::fflush(stdout);
  ::_exit(0);
}

TensorMap exits(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 0) return doubled(comm, inputs);
  std::fputs("oops\n", stderr);
  ::_exit(3);
}

TensorMap crashes(Communicator&, const CaseInputs&) {
  std::raise(SIGSEGV);
  return {};
}

TensorMap spins(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 0) return doubled(comm, inputs);
  for (volatile int i = 0;; i = i + 1) {
  }
}

TensorMap is_late(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) throw ContractError("it is late");
  comm.point_to_point().recv(inputs.tensor("x").clone(), 1);
  return {};
}

TensorMap waits_for_nothing(Communicator& comm, const CaseInputs& inputs) {
  comm.point_to_point().recv(inputs.tensor("x").clone(), 1 - comm.rank());
  return {};
}

/// One message of 24 B each way in two rounds, and two collectives; then claims to have spent nothing.
TensorMap spends(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = inputs.tensor("x").clone();
  if (comm.rank() == 0) {
    comm.point_to_point().send(x, 1);
    comm.point_to_point().recv(x, 1);
  } else {
    comm.point_to_point().recv(x, 0);
    comm.point_to_point().send(x, 0);
  }
  comm.collectives().all_reduce(x);
  comm.collectives().all_gather(x);
  comm.endpoint().ledger() = comm::Ledger();
  return {{"y", x}};
}

CallTable calls() {
  return {{"a0.double", doubled},
          {"a0.twice", handing_in(record_of("a0.twice", "Twice"))},
          {"a0.other", handing_in(record_of("a0.double", "Double"))},
          {"a0.junk", handing_in("junk")},
          {"a0.prints", prints},
          {"a0.exits", exits},
          {"a0.crashes", crashes},
          {"a0.spins", spins},
          {"a0.is_late", is_late},
          {"a0.waits", waits_for_nothing},
          {"a0.spends", spends}};
}

}  // namespace
}  // namespace lab::grading

int main(int argc, char** argv) {
  if (argc == 4) lab::grading::descriptor = std::atoi(argv[3]);
  lab::rank_program(argc, argv, lab::grading::calls);
}
