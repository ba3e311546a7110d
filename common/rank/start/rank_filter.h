#pragma once

#include <linux/filter.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace lab {

/// A system call without the C library. Returns what the kernel does: -errno where it fails.
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
#if defined(__x86_64__)
  long result = number;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  asm volatile("svc 0" : "+r"(first) : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth) : "memory");
  return first;
#else
#error "a judged rank's filters are written for x86-64 and AArch64"
#endif
}

/// In a rank's filter, this number stands for the rank's own process, which does not exist yet when the filter is made.
constexpr std::uint32_t kOwnProcess = 0x5EC0117D;

/// The seccomp filter of a rank. The server reads it, its children install it.
class RankFilter {
 public:
  /// From a descriptor. False: it is no filter.
  bool read(int descriptor);
  /// In this process, for good.
  bool install();

 private:
  std::array<sock_filter, 4096> instructions_{};
  std::size_t count_ = 0;
};

}  // namespace lab
