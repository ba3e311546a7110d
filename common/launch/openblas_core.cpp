#include "common/launch/openblas_core.h"

#include <cpuid.h>
#include <unistd.h>

#include <cstring>

namespace lab {
namespace {

constexpr char kVariable[] = "OPENBLAS_CORETYPE=";

/// The value of extended control register 0: which registers the operating system saves.
unsigned saved_registers() {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// Written with nothing but the CPU: it runs before the C library is initialised.
const char* core_variable() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return nullptr;
  const bool has_fma = (c & bit_FMA) != 0;
  if ((c & bit_OSXSAVE) == 0 || (saved_registers() & 0x6) != 0x6) return nullptr;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return nullptr;
  const unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
  if ((b & avx512) == avx512 && (saved_registers() & 0xe6) == 0xe6) return "OPENBLAS_CORETYPE=SkylakeX";
  if ((b & bit_AVX2) != 0 && has_fma) return "OPENBLAS_CORETYPE=Haswell";
#endif
  return nullptr;
}

void restart_with_core(int, char** argv, char** environment) {
  const char* variable = core_variable();
  if (variable == nullptr) return;
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (std::strncmp(environment[count], kVariable, sizeof(kVariable) - 1) == 0) return;  // set by the user, or by us
  }
  constexpr std::size_t kMost = 4096;
  if (count > kMost) return;
  const char* extended[kMost + 2];
  std::memcpy(extended, environment, count * sizeof(char*));
  extended[count] = variable;
  extended[count + 1] = nullptr;
  execve("/proc/self/exe", argv, const_cast<char**>(extended));
  // Where /proc is not mounted this returns, and OpenBLAS chooses for itself.
}

using Initialiser = void (*)(int, char**, char**);
__attribute__((section(".preinit_array"), used)) const Initialiser before_all_libraries = restart_with_core;

}  // namespace

std::string best_openblas_core() {
  const char* variable = core_variable();
  return variable == nullptr ? "" : variable + sizeof(kVariable) - 1;
}

}  // namespace lab
