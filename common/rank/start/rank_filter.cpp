#include "common/rank/start/rank_filter.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lab {

bool RankFilter::read(int descriptor) {
  const ssize_t got = ::pread(descriptor, instructions_.data(), sizeof instructions_, 0);
  if (got <= 0 || got % static_cast<ssize_t>(sizeof(sock_filter)) != 0) return false;
  count_ = static_cast<std::size_t>(got) / sizeof(sock_filter);
  return true;
}

bool RankFilter::install() {
  // Not the C library's functions: a student's file may define one of the same name.
  const auto self = static_cast<std::uint32_t>(raw_call(SYS_getpid));
  for (sock_filter& instruction : instructions_) {
    if (instruction.code == (BPF_JMP | BPF_JEQ | BPF_K) && instruction.k == kOwnProcess) instruction.k = self;
  }
  const sock_fprog whole = {static_cast<unsigned short>(count_), instructions_.data()};
  return raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, reinterpret_cast<long>(&whole)) == 0;
}

}  // namespace lab
