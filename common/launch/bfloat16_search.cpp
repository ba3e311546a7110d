#include "common/launch/bfloat16_search.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "common/launch/run_in_child.h"
#include "common/report/errors.h"
#include "common/tensor/compare.h"
#include "common/tensor/exact_data.h"

namespace lab {
namespace {

// A bfloat16 holds 8 bits: rounding moves a result by at most 2^-8 of itself, by about 0.0017 in norm. That is all that
// happens to a product whose sums are kept in float32; 2^-6 leaves room for a few roundings more.
constexpr double kMaxRelativeNorm = 1.0 / 64;

/// What a trial may do to the machine: die quickly, of the signal itself and not of a sanitizer's handler, and without
/// leaving a core file.
void become_probe(unsigned limit_seconds) {
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) std::signal(signal, SIG_DFL);
  ::alarm(limit_seconds);
}

/// Whole numbers from -63 to 63: exact in bfloat16, and so are their products' sums in float32.
at::Tensor values(at::IntArrayRef sizes, std::uint64_t seed) {
  return exact_values(sizes, at::kFloat, seed);
}

at::Tensor low(const at::Tensor& tensor) {
  return tensor.to(at::kBFloat16);
}

// B batch, T tokens, I and O features in and out.
struct LinearShape {
  std::int64_t B, T, I, O;
};

/// Forward, and backward as autograd computes it: from the same transposed views.
void check_linear(const LinearShape& shape) {
  const auto [B, T, I, O] = shape;
  const std::string sizes = fmt::format("[{}, {}, {}] by [{}, {}]", B, T, I, I, O);
  const at::Tensor x_BTI = values({B, T, I}, 1), w_OI = values({O, I}, 2), bias_O = values({O}, 3);
  const at::Tensor grad_NO = values({B * T, O}, 4), x_NI = x_BTI.reshape({B * T, I});
  require_agreement("linear " + sizes, at::linear(low(x_BTI), low(w_OI), low(bias_O)), at::linear(x_BTI, w_OI, bias_O));
  require_agreement("linear's input gradient " + sizes, at::mm(low(grad_NO), low(w_OI)), at::mm(grad_NO, w_OI));
  require_agreement("linear's weight gradient " + sizes, at::mm(low(grad_NO).t(), low(x_NI)),
                    at::mm(grad_NO.t(), x_NI));
}

/// Attention's scores.
void check_batched_product(const LinearShape& shape) {
  const auto [B, T, I, O] = shape;
  const at::Tensor q_BTI = values({B, T, I}, 5), k_BOI = values({B, O, I}, 6);
  require_agreement(fmt::format("batched product [{}, {}, {}] by [{}, {}, {}]", B, T, I, B, I, O),
                    at::matmul(low(q_BTI), low(k_BOI).transpose(1, 2)), at::matmul(q_BTI, k_BOI.transpose(1, 2)));
}

}  // namespace

void require_agreement(const std::string& operation, const at::Tensor& actual, const at::Tensor& expected) {
  const double error = compare(actual.to(at::kFloat), expected).relative_norm;
  if (error < kMaxRelativeNorm) return;  // not so: NaN
  throw Error(ExitCode::kMismatch, fmt::format("{} is off by {:.2g} of its norm, at most {:.2g} expected", operation,
                                               error, kMaxRelativeNorm));
}

void check_bfloat16_operations() {
  for (const LinearShape& shape : {LinearShape{2, 8, 64, 224}, LinearShape{1, 1, 64, 64}, LinearShape{2, 16, 32, 32},
                                   LinearShape{1, 64, 128, 96}, LinearShape{4, 32, 128, 128}}) {
    check_linear(shape);
    check_batched_product(shape);
  }
  const at::Tensor x = values({16, 224}, 7), y = values({16, 224}, 8);
  require_agreement("addition", low(x) + low(y), x + y);
  require_agreement("relu", at::relu(low(x)), at::relu(x));
  require_agreement("mean", at::relu(low(x)).mean(1), at::relu(x).mean(1));
}

Bfloat16Search search_bfloat16_mode(const std::vector<Bfloat16Mode>& modes,
                                    const std::function<void(Bfloat16Mode)>& work, unsigned limit_seconds) {
  Bfloat16Search search;
  for (const Bfloat16Mode mode : modes) {
    try {
      run_in_child(fmt::format("the probe (at most {} s)", limit_seconds), [&] {
        become_probe(limit_seconds);
        use_bfloat16_mode(mode);
        at::set_num_threads(1);  // a pool that this process may have is not in the child: it would wait for ever
        work(mode);
      });
      search.proven = mode;
      return search;
    } catch (const UsageError&) {
      throw;  // not the mode's fault: there was no child
    } catch (const Error& failure) {
      search.rejected += fmt::format("{}{}: {}", search.rejected.empty() ? "" : "; ", describe(mode), failure.what());
    }
  }
  return search;
}

Bfloat16Mode use_found(const Bfloat16Search& search) {
  if (!search.proven) {
    throw UsageError(
        fmt::format("--dtype bfloat16: on this CPU LibTorch's bfloat16 operations fail in every mode tried "
                    "({}); hint: --dtype float32",
                    search.rejected));
  }
  use_bfloat16_mode(*search.proven);
  return *search.proven;
}

}  // namespace lab
