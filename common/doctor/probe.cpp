// Prints, as key=value lines, how LibTorch's kernels perform on this CPU. It leaves its environment unchanged, so it
// shows the bare state that ./lab doctor asks about.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

namespace {

constexpr const char* kSaferIsa = "AVX512_CORE_BF16";

/// Calls a C function that only some BLAS libraries have; `fallback` if this one does not.
std::string text_from(const char* function_name, const std::string& fallback) {
  using Function = const char* (*)();
  const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, function_name));
  return function == nullptr ? fallback : function();
}

/// The library that matrix products are bound to.
std::string blas_library() {
  Dl_info info{};
  void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  return sgemm != nullptr && dladdr(sgemm, &info) != 0 ? info.dli_fname : "unknown";
}

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

/// The fastest of OpenBLAS's three broad kernels that this CPU can run. Not common/tensor/library_defaults.h: a
/// program that links that unit has the right kernel by default, and the bare state is what is asked for here.
std::string best_core() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
  return "Prescott";
#else
  return text_from("openblas_get_corename", "unknown");
#endif
}

bool bfloat16_product_is_right() {
  // Small integers: exact in bfloat16, and so are their products' sums.
  const at::Tensor a = at::arange(64 * 64, at::kFloat).remainder(3).reshape({64, 64});
  const at::Tensor b = at::arange(64 * 64, at::kFloat).remainder(5).reshape({64, 64}) - 2;
  const at::Tensor product = at::mm(a.to(at::kBFloat16), b.to(at::kBFloat16)).to(at::kFloat);
  return product.equal(at::mm(a, b));
}

/// Tries a product in a child, which an illegal instruction may kill: works, wrong, or crashes with signal N.
std::string try_bfloat16(const char* max_isa) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (max_isa != nullptr) setenv("ONEDNN_MAX_CPU_ISA", max_isa, 1);
    bool right = false;
    try {
      right = bfloat16_product_is_right();
    } catch (const std::exception&) {
      right = false;
    }
    _exit(right ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return "untested";
  if (WIFSIGNALED(status)) return fmt::format("crashes with signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "works" : "wrong";
}

std::string bfloat16_state() {
  std::string by_default = try_bfloat16(nullptr);
  if (by_default == "works" || try_bfloat16(kSaferIsa) != "works") return by_default;
  return fmt::format("needs ONEDNN_MAX_CPU_ISA={}", kSaferIsa);
}

/// The best of some products of 512 x 512 floats, in 1e9 operations a second.
double float_product_gflops() {
  constexpr int kSize = 512;
  constexpr int kTries = 10;
  const at::Tensor a = at::ones({kSize, kSize});
  at::Tensor out = at::empty({kSize, kSize});
  double best_seconds = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    at::mm_out(out, a, a);
    best_seconds =
        std::min(best_seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * kSize * kSize * kSize / best_seconds / 1e9;
}

}  // namespace

int main() {
  const int default_threads = at::get_num_threads();
  at::set_num_threads(1);  // no pool of threads before the children are forked
  fmt::print("torch_version={}\n", TORCH_VERSION);
  fmt::print("cpu={}\n", cpu_name());
  fmt::print("cpu_best_core={}\n", best_core());
  fmt::print("blas={}\n", blas_library());
  fmt::print("blas_core={}\n", text_from("openblas_get_corename", "unknown"));
  fmt::print("threads={}\n", default_threads);
  fmt::print("bfloat16={}\n", bfloat16_state());
  fmt::print("gflops={:.1f}\n", float_product_gflops());
  std::fflush(stdout);
  _exit(0);
}
