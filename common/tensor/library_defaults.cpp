#include "common/tensor/library_defaults.h"

#include <dlfcn.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <cstring>

// Runs before a sanitizer's runtime does.
#define LAB_EARLY __attribute__((no_sanitize("address", "undefined")))

namespace lab {
namespace {

constexpr char kAvx512Core[] = "SkylakeX";
// The least: an idle thread of OpenBLAS spins for two to the power of this many cycles before it sleeps. By default 26: some
// thirty milliseconds in each process that loads it.
constexpr char kAtOnce[] = "4";

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
  if ((b & avx512) == avx512 && (saved_registers() & 0xe6) == 0xe6) return kAvx512Core;
  if ((b & bit_AVX2) != 0 && has_fma) return "Haswell";
#endif
  return nullptr;
}

/// The beginning of oneDNN's dnnl_version_t.
struct OneDnnVersion {
  int major, minor;
};

/// Called from within oneDNN, which is loaded then.
LAB_EARLY const char* isa_for_onednn() {
  using Version = const OneDnnVersion* (*)();
  const auto find_version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "dnnl_version"));
  if (find_version == nullptr) return nullptr;
  const OneDnnVersion* version = find_version();
  if (version->major != 3 || (version->minor != 6 && version->minor != 7)) return nullptr;
  const char* core = core_of_this_cpu();
  return core != nullptr && std::strcmp(core, kAvx512Core) == 0 ? "AVX2" : nullptr;
}

LAB_EARLY const char* set_variable(const char* name) {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  return nullptr;
}

LAB_EARLY const char* find_default(const char* name) {
  if (std::strcmp(name, "OPENBLAS_CORETYPE") == 0) return core_of_this_cpu();
  if (std::strcmp(name, "OMP_WAIT_POLICY") == 0) return "passive";
  if (std::strcmp(name, "OPENBLAS_THREAD_TIMEOUT") == 0) return kAtOnce;
  // oneDNN looks for the variable's earlier name where it does not find this one.
  if (std::strcmp(name, "ONEDNN_MAX_CPU_ISA") == 0 && set_variable("DNNL_MAX_CPU_ISA") == nullptr)
    return isa_for_onednn();
  return nullptr;
}

std::string get_text(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

std::string best_openblas_core() {
  return get_text(core_of_this_cpu());
}

std::string highest_onednn_isa() {
  return get_text(isa_for_onednn());
}

}  // namespace lab

/// Replaces the C library's getenv() for this program and all its libraries. The same lookup, plus the defaults.
extern "C" LAB_EARLY char* getenv(const char* name) noexcept {
  const char* value = lab::set_variable(name);
  return const_cast<char*>(value == nullptr ? lab::find_default(name) : value);
}
