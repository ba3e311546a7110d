#include "common/launch/openblas_core.h"

#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <cstring>

// Runs before a sanitizer's runtime does.
#define LAB_EARLY __attribute__((no_sanitize("address", "undefined")))

namespace lab::launch {
namespace {

constexpr char kCoreTypeVariable[] = "OPENBLAS_CORETYPE";
/// libgomp's threads spin while they wait unless told not to, which blocks other ranks on shared cores.
constexpr char kWaitPolicyVariable[] = "OMP_WAIT_POLICY";
constexpr char kPassive[] = "passive";

#if defined(__x86_64__)
/// The value of extended control register 0: which registers the operating system saves.
LAB_EARLY unsigned saved_registers() {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#endif

/// Uses only CPU instructions: it is called before this program is initialised.
LAB_EARLY const char* core_of_this_cpu() {
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
  if ((b & avx512) == avx512 && (saved_registers() & 0xe6) == 0xe6) return "SkylakeX";
  if ((b & bit_AVX2) != 0 && has_fma) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

std::string best_openblas_core() {
  const char* core = core_of_this_cpu();
  return core == nullptr ? "" : core;
}

}  // namespace lab::launch

/// Replaces the C library's getenv() for this program and all its libraries. The same lookup, plus two defaults.
extern "C" LAB_EARLY char* getenv(const char* name) noexcept {
  using namespace lab::launch;
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  if (std::strcmp(name, kWaitPolicyVariable) == 0) return const_cast<char*>(kPassive);
  return std::strcmp(name, kCoreTypeVariable) == 0 ? const_cast<char*>(core_of_this_cpu()) : nullptr;
}
