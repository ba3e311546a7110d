// Prints rows of ./lab doctor, STATE|PART|NOTE|COMMAND: how LibTorch's kernels perform on this CPU. It leaves its environment
// unchanged, so it shows the bare state. "gflops" as an argument: only the speed of a product.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
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

void print_row(const std::string& state, const std::string& part, const std::string& note,
               const std::string& command = "") {
  fmt::print("{}|{}|{}|{}\n", state, part, note, command);
}

/// What this program measures with another kernel of OpenBLAS.
std::string gflops_with(const std::string& core, const char* own_program) {
  setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  FILE* const other = popen(fmt::format("'{}' gflops", own_program).c_str(), "r");
  char text[32] = "unknown";
  if (other != nullptr && std::fscanf(other, "%31s", text) != 1) text[0] = '?';
  if (other != nullptr) pclose(other);
  return text;
}

void print_blas_row(const char* own_program) {
  std::error_code ignored;
  const std::string library = std::filesystem::canonical(blas_library(), ignored).string();
  const std::string core = text_from("openblas_get_corename", "unknown"), best = best_core();
  const std::string speed = fmt::format("{:.1f} GFLOP/s on one thread", float_product_gflops());
  if (library.find("openblas") == std::string::npos) {
    print_row("unknown", "OpenBLAS kernel", "another BLAS is active: " + speed);
  } else if (core == "Prescott" && best != "Prescott") {
    print_row(
        "slow", "OpenBLAS kernel",
        fmt::format("does not recognize this CPU and uses {}: {}, {} with {}.", core, speed,
                    gflops_with(best, own_program), best),
        fmt::format("The labs choose {} themselves; for other programs: export OPENBLAS_CORETYPE={}", best, best));
  } else {
    print_row("ok", "OpenBLAS kernel", core + ", " + speed);
  }
}

void print_bfloat16_row() {
  const std::string by_default = try_bfloat16(nullptr);
  if (by_default == "works") {
    print_row("ok", "bfloat16", "products are correct");
  } else if (try_bfloat16(kSaferIsa) == "works") {
    print_row("slow", "bfloat16", "by default a product crashes with an illegal instruction",
              fmt::format("export ONEDNN_MAX_CPU_ISA={}", kSaferIsa));
  } else {
    print_row("missing", "bfloat16", "optional: a product " + by_default,
              "use float32, or a newer LibTorch (-DCMAKE_PREFIX_PATH=...)");
  }
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);  // no pool of threads before the children are forked
  if (argc > 1) {
    fmt::print("{:.1f}\n", float_product_gflops());
  } else {
    print_bfloat16_row();
    print_blas_row(argv[0]);
  }
  std::fflush(stdout);
  _exit(0);
}
