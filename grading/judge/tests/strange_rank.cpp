#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/comm/relay/relay_world.h"
#include "common/rank/rank_program.h"
#include "common/rank/record.h"
#include "common/rank/start/rank_server.h"
#include "common/testing/student/crashing.h"

// A rank's program whose tasks behave as submissions might: case_world_test.cpp asks for them.
namespace lab::grading {
namespace {

TensorMap doubled(Communicator&, const CaseInputs& inputs) {
  return {{"y", 2 * inputs.tensor("x")}};
}

/// Hands in these bytes before its own result.
TaskCall handing_in(const std::string& bytes) {
  return [bytes](Communicator& comm, const CaseInputs& inputs) {
    const comm::RelayEnd end = comm::RelayWorld::join_by(::dup(rank_seat().relay), comm.rank(), comm.size());
    end.transport->set_work_counter([] { return std::int64_t{1} << 40; });  // more than the rank has counted
    end.return_result(bytes);
    return doubled(comm, inputs);
  };
}

std::string make_record(const std::string& task, const std::string& name) {
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

TensorMap crashes(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) testing::follow(nullptr);
  return doubled(comm, inputs);
}

TensorMap indexes(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) testing::find_element({1, 2}, 2);
  return doubled(comm, inputs);
}

TensorMap spins(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 0) return doubled(comm, inputs);
  testing::loop_while(true);
  return {};
}

TensorMap is_late(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) throw ContractError("it is late");
  comm.point_to_point().recv(inputs.tensor("x").clone(), 1);
  return {};
}

/// The core that it may use, once that is a single one; after some seconds -1: it may use several.
TensorMap is_bound(Communicator&, const CaseInputs&) {
  cpu_set_t cores;
  for (int looks = 0; looks < 500; ++looks) {
    CPU_ZERO(&cores);
    if (::sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) == 1)
      return {{"core", at::scalar_tensor(::sched_getcpu(), at::kDouble)}};
    ::usleep(10'000);
  }
  return {{"core", at::scalar_tensor(-1, at::kDouble)}};
}

TensorMap waits_for_nothing(Communicator& comm, const CaseInputs& inputs) {
  comm.point_to_point().recv(inputs.tensor("x").clone(), 1 - comm.rank());
  return {};
}

/// How often it was called in this process.
TensorMap remembers(Communicator&, const CaseInputs&) {
  static int num_calls = 0;
  return {{"calls", at::scalar_tensor(++num_calls, at::kDouble)}};
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
  get_endpoint(comm).ledger() = comm::Ledger();
  return {{"y", x}};
}

/// Each way out of a rank: whether it is open.
TensorMap reaches_out(Communicator&, const CaseInputs&) {
  const auto works = [](long result) { return result >= 0 ? 1.0 : 0.0; };
  std::vector<double> open_ways;
  for (const char* path : {"/proc/self/cmdline", "/etc/passwd", "/usr/include/seccomp.h", "/dev/null", "/tmp"})
    open_ways.push_back(works(::open(path, O_RDONLY)));
  open_ways.push_back(works(::open("/tmp/note", O_CREAT | O_RDWR, 0600)));
  struct stat found {};
  open_ways.push_back(works(::stat("/usr", &found)));
  for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK})
    open_ways.push_back(works(::socket(family, SOCK_STREAM, 0)));
  int ends[2];
  open_ways.push_back(works(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends)));
  open_ways.push_back(works(::pipe(ends)));
  open_ways.push_back(works(::memfd_create("note", 0)));
  open_ways.push_back(works(::kill(::getppid(), 0)));
  open_ways.push_back(works(::syscall(SYS_tgkill, ::getppid(), ::getppid(), SIGCONT)));
  open_ways.push_back(works(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)));
  open_ways.push_back(works(::prctl(PR_SET_PDEATHSIG, 0)));
  open_ways.push_back(works(::unshare(CLONE_NEWUSER)));
  open_ways.push_back(works(::setsid()));
  open_ways.push_back(works(::shmget(IPC_PRIVATE, 4096, 0600)));
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  open_ways.push_back(works(::sched_setaffinity(0, sizeof cpus, &cpus)));
  void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  open_ways.push_back(code != MAP_FAILED ? 1.0 : 0.0);
  // Futexes that others could wait for or wake, clocks of others, and how busy the machine is.
  alignas(4) static int word = 0;
  for (const int operation : {FUTEX_WAKE, FUTEX_WAKE_BITSET, FUTEX_REQUEUE, FUTEX_WAKE_OP, FUTEX_LOCK_PI})
    open_ways.push_back(works(::syscall(SYS_futex, &word, operation, 1, nullptr, nullptr, 1)));
  timespec time = {0, 1};
  const auto waits = [&](int operation) { return ::syscall(SYS_futex, &word, operation, 0, &time, nullptr, ~0U); };
  for (const int operation : {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME})
    open_ways.push_back(waits(operation) < 0 && errno == EAGAIN ? 0.0 : 1.0);
  clockid_t clock = 0;
  for (const pid_t process : {1, ::getpid()}) {
    open_ways.push_back(works(::clock_getcpuclockid(process, &clock) == 0 ? 0 : -1));
    clock = static_cast<clockid_t>(~static_cast<unsigned>(process) << 3 | 2);
    open_ways.push_back(works(::clock_gettime(clock, &time)));
    open_ways.push_back(works(::clock_getres(clock, &time)));
    open_ways.push_back(works(-::clock_nanosleep(clock, TIMER_ABSTIME, &time, nullptr)));
  }
  struct sysinfo machine {};
  open_ways.push_back(works(::sysinfo(&machine)));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  open_ways.push_back(works(child));
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  open_ways.push_back(works(::execv(program, arguments)));
  // And what a rank does need: threads, memory, clocks.
  std::thread([] { ::usleep(10'000); }).join();
  for (const clockid_t own : {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                              CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME})
    if (::clock_gettime(own, &time) != 0) ::_exit(4);
  return {{"open", at::tensor(open_ways, at::kDouble)}};
}

/// Each way in which a program could let the ranks that are forked later talk, tried in the server: whether it was open.
std::array<bool, 7> open_in_server;

/// Runs before the server, as no constructor of a submission may: link order decides among those of one priority.
[[gnu::constructor(101)]] void reach_out_early() {
  int ends[2];
  const auto is_shared = [](int protection) {
    return ::mmap(nullptr, 4096, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  };
  open_in_server = {is_shared(PROT_READ | PROT_WRITE),
                    is_shared(PROT_READ),
                    ::pipe(ends) == 0,
                    ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0,
                    ::eventfd(0, 0) >= 0,
                    ::memfd_create("note", 0) >= 0,
                    ::shmget(IPC_PRIVATE, 4096, 0600) >= 0};
  // A private mapping must do.
  if (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) ::_exit(4);
}

TensorMap reaches_out_early(Communicator&, const CaseInputs&) {
  at::Tensor open_ways = at::zeros({static_cast<std::int64_t>(open_in_server.size())}, at::kDouble);
  for (std::size_t way = 0; way < open_in_server.size(); ++way)
    open_ways[static_cast<std::int64_t>(way)] = open_in_server[way] ? 1.0 : 0.0;
  return {{"open", open_ways}};
}

/// A second and 200 MiB that neither LibTorch's operators nor its allocator know of.
TensorMap works_unseen(Communicator& comm, const CaseInputs& inputs) {
  if (comm.rank() == 1) {
    std::vector<char> memory(200 << 20);
    volatile char* const bytes = memory.data();
    for (const std::clock_t begin = std::clock(); std::clock() < begin + CLOCKS_PER_SEC;) {
      for (std::size_t i = 0; i < memory.size(); i += 4096) bytes[i] = 1;
    }
  }
  return doubled(comm, inputs);
}

CallTable calls() {
  return {{"a0.double", doubled},
          {"a0.twice", handing_in(make_record("a0.twice", "Twice"))},
          {"a0.other", handing_in(make_record("a0.double", "Double"))},
          {"a0.junk", handing_in("junk")},
          {"a0.prints", prints},
          {"a0.exits", exits},
          {"a0.crashes", crashes},
          {"a0.indexes", indexes},
          {"a0.spins", spins},
          {"a0.is_late", is_late},
          {"a0.reaches_out", reaches_out},
          {"a0.reaches_out_early", reaches_out_early},
          {"a0.remembers", remembers},
          {"a0.is_bound", is_bound},
          {"a0.waits", waits_for_nothing},
          {"a0.spends", spends},
          {"a0.works_unseen", works_unseen}};
}

}  // namespace
}  // namespace lab::grading

int main() {
  lab::rank_program(lab::grading::calls);
}
