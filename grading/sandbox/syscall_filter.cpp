#include "grading/sandbox/syscall_filter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "common/api/errors.h"
#include "common/rank/start/rank_filter.h"

namespace lab::grading {
namespace {

/// No judged program and no compiler needs these.
constexpr std::initializer_list<const char*> kForNobody = {
    // networks, and messages between processes that share nothing
    "socket", "connect", "bind", "listen", "accept", "accept4", "shmget", "shmat", "shmctl", "semget", "semop",
    "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "mknod", "mknodat",
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_open",
    "pidfd_getfd", "pidfd_send_signal", "kcmp", "sched_setaffinity", "setpriority", "ioprio_set", "migrate_pages",
    "move_pages",
    // namespaces, mounts, users
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "setuid", "setgid", "setreuid", "setregid", "setfsuid", "setfsgid",
    "personality",
    // parts of the kernel
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl",
    "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime",
    "open_by_handle_at", "name_to_handle_at", "fanotify_init", "inotify_init", "inotify_init1", "lookup_dcookie",
    "vhangup", "sethostname", "setdomainname", "iopl", "ioperm", "nfsservctl"};

/// In addition, for all but what becomes another user, after which they give no rights back.
constexpr std::initializer_list<const char*> kToBecomeAnother = {"setresuid", "setresgid", "setgroups", "capset"};

/// In addition, while a rank's program is loaded: other programs, signals, all that changes files, and all through which
/// ranks that are forked later could talk.
constexpr std::initializer_list<const char*> kForTools = {
    "execve",       "execveat",  "kill",      "tkill",      "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "setsid",       "setpgid",   "openat2",   "creat",      "truncate",        "mkdir",
    "mkdirat",      "rmdir",     "unlink",    "unlinkat",   "rename",          "renameat",
    "renameat2",    "symlink",   "symlinkat", "link",       "linkat",          "chmod",
    "fchmodat",     "chown",     "lchown",    "fchownat",   "utime",           "utimes",
    "utimensat",    "futimesat", "setxattr",  "lsetxattr",  "removexattr",     "lremovexattr",
    "memfd_create", "pipe",      "pipe2",     "socketpair", "eventfd",         "eventfd2"};

/// All that a rank needs, besides what depends on arguments: found by tracing the references, the mutants and variants.
constexpr std::initializer_list<const char*> kForRanks = {
    // memory
    "brk", "munmap", "madvise", "mremap",
    // the descriptors that it has
    "read", "readv", "write", "writev", "sendto", "recvfrom", "poll", "ppoll", "close", "dup", "fstat", "lseek",
    // threads and signals of its own
    "set_robust_list", "rseq", "set_tid_address", "gettid", "getpid", "sched_yield", "sched_getaffinity", "getcpu",
    "membarrier", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "exit",
    "exit_group",
    // clocks, and what a program may know of its machine: not sysinfo, which tells the memory and load of all
    "gettimeofday", "time", "nanosleep", "getrandom", "uname", "getrusage", "times", "getuid", "geteuid", "getgid",
    "getegid"};

/// A call's argument, counted from 0: libseccomp's macro is C.
scmp_arg_cmp argument(unsigned place, scmp_compare how, scmp_datum_t value, scmp_datum_t masked = 0) {
  return {place, how, value, masked};
}

struct Filter {
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context;

  explicit Filter(std::uint32_t otherwise) : context(seccomp_init(otherwise), seccomp_release) {
    if (!context) throw UsageError("libseccomp cannot make a filter");
  }

  /// A call that this machine's kernel does not know by that name needs no rule.
  void rule(std::uint32_t action, const char* name, const std::vector<scmp_arg_cmp>& arguments = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR || number < 0) return;
    const int failure = seccomp_rule_add_array(context.get(), action, number, static_cast<unsigned>(arguments.size()),
                                               arguments.data());
    if (failure != 0)
      throw UsageError(fmt::format("libseccomp refuses a rule for {}: {}", name, std::strerror(-failure)));
  }
};

constexpr std::uint32_t kRefused = SCMP_ACT_ERRNO(EPERM);
constexpr std::uint64_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;

/// The kernel reads 32 bits of a futex's operation and of a clock's number.
constexpr std::uint64_t kFutexOperation = 0xFFFFFFFF & ~FUTEX_CLOCK_REALTIME;
constexpr std::uint64_t kNotAFixedClock = 0xFFFFFFF8;  // CLOCK_REALTIME to CLOCK_BOOTTIME are 0 to 7

Filter deny_list(FilterKind kind) {
  Filter filter(SCMP_ACT_ALLOW);
  for (const char* name : kForNobody) filter.rule(kRefused, name);
  if (kind != FilterKind::kToNobody) {
    for (const char* name : kToBecomeAnother) filter.rule(kRefused, name);
  }
  if (kind == FilterKind::kFirst) {
    for (const char* name : kForTools) filter.rule(kRefused, name);
    for (const std::uint64_t writes : {O_WRONLY, O_RDWR, O_CREAT}) {
      filter.rule(kRefused, "open", {argument(1, SCMP_CMP_MASKED_EQ, writes, writes)});
      filter.rule(kRefused, "openat", {argument(2, SCMP_CMP_MASKED_EQ, writes, writes)});
    }
    constexpr std::uint64_t kSharedMemory = MAP_SHARED | MAP_ANONYMOUS;
    for (const char* name : {"mmap", "mmap2"})
      filter.rule(kRefused, name, {argument(3, SCMP_CMP_MASKED_EQ, kSharedMemory, kSharedMemory)});
  }
  for (std::uint64_t bit = 1; bit != 0 && bit <= kNewNamespaces; bit <<= 1) {
    if ((kNewNamespaces & bit) != 0) filter.rule(kRefused, "clone", {argument(0, SCMP_CMP_MASKED_EQ, bit, bit)});
  }
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");  // its flags are in memory; the C library then uses clone
  return filter;
}

Filter allow_list() {
  Filter filter(kRefused);
  for (const char* name : kForRanks) filter.rule(SCMP_ACT_ALLOW, name);
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  filter.rule(SCMP_ACT_ALLOW, "clone", {argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD | kNewNamespaces, CLONE_THREAD)});
  for (const char* name : {"mmap", "mmap2", "mprotect"})
    filter.rule(SCMP_ACT_ALLOW, name, {argument(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)});
  // A futex that is not private is one for all who map its page, such as that of a library's file. Its waiters would be
  // woken by the end of another rank's thread, which no filter sees: nobody waits. pthread_join() tries again.
  filter.rule(SCMP_ACT_ALLOW, "futex", {argument(1, SCMP_CMP_MASKED_EQ, FUTEX_PRIVATE_FLAG, FUTEX_PRIVATE_FLAG)});
  for (const std::uint64_t waits : {FUTEX_WAIT, FUTEX_WAIT_BITSET})
    filter.rule(SCMP_ACT_ERRNO(EAGAIN), "futex", {argument(1, SCMP_CMP_MASKED_EQ, kFutexOperation, waits)});
  // The others are CPU clocks of any process.
  for (const char* name : {"clock_gettime", "clock_getres", "clock_nanosleep"})
    filter.rule(SCMP_ACT_ALLOW, name, {argument(0, SCMP_CMP_MASKED_EQ, kNotAFixedClock, 0)});
  filter.rule(SCMP_ACT_ALLOW, "tgkill", {argument(0, SCMP_CMP_EQ, kOwnProcess)});  // abort()
  filter.rule(SCMP_ACT_ALLOW, "prctl", {argument(0, SCMP_CMP_EQ, PR_SET_NAME)});
  filter.rule(SCMP_ACT_ALLOW, "prlimit64", {argument(0, SCMP_CMP_EQ, 0), argument(2, SCMP_CMP_EQ, 0)});  // only asks
  for (const int command : {F_GETFL, F_GETFD})
    filter.rule(SCMP_ACT_ALLOW, "fcntl", {argument(1, SCMP_CMP_EQ, static_cast<scmp_datum_t>(command))});
  return filter;
}

}  // namespace

UniqueFd syscall_filter(FilterKind kind) {
  const Filter filter = kind == FilterKind::kRank ? allow_list() : deny_list(kind);
  UniqueFd file(::memfd_create("filter", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  int failure = file.get() < 0 ? -errno : seccomp_export_bpf(filter.context.get(), file.get());
  // Else who inherits it could write into it, for others to read.
  if (failure == 0 && ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    failure = -errno;
  if (failure != 0) throw UsageError(fmt::format("cannot write a filter of system calls: {}", std::strerror(-failure)));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace lab::grading
