#include "common/launch/bfloat16_mode.h"

#include <ATen/Parallel.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/launch/bfloat16_search.h"
#include "common/launch/run_in_child.h"
#include "common/report/errors.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"

namespace lab {
namespace {

constexpr Bfloat16Mode kBad = Bfloat16Mode::kDefault, kGood = Bfloat16Mode::kWithoutOnednn;
constexpr unsigned kLimitSeconds = 60;

/// A search in which the first of two modes does the work, and the second works.
Bfloat16Search search_past(const std::function<void()>& bad_work, unsigned limit_seconds = kLimitSeconds) {
  return search_bfloat16_mode(
      {kBad, kGood},
      [&](Bfloat16Mode mode) {
        if (mode == kBad) bad_work();
      },
      limit_seconds);
}

std::string variable() {
  const char* value = std::getenv("ONEDNN_MAX_CPU_ISA");
  return value == nullptr ? "unset" : value;
}

TEST_CASE("a mode that dies of an illegal instruction is rejected, and the next is taken") {
  const Bfloat16Search search = search_past([] { ::raise(SIGILL); });
  CHECK(search.proven == kGood);
  CHECK(search.rejected == "default: the probe (at most 60 s) was killed by signal 4 (SIGILL)");
}

TEST_CASE("a mode that gives wrong numbers is rejected, and the next is taken") {
  const Bfloat16Search search = search_past([] {
    const at::Tensor expected = exact_values({8, 8}, at::kFloat, 1);
    require_agreement("product", expected.t().to(at::kBFloat16), expected);
  });
  CHECK(search.proven == kGood);
  CHECK(search.rejected.rfind("default: product is off by 1.", 0) == 0);
}

TEST_CASE("a mode that hangs is rejected, and the next is taken") {
  const Bfloat16Search search = search_past(
      [] {
        for (;;) ::pause();
      },
      1);
  CHECK(search.proven == kGood);
  CHECK(search.rejected == "default: the probe (at most 1 s) was killed by signal 14 (SIGALRM)");
}

TEST_CASE("a mode in which LibTorch throws, or ends the process, is rejected") {
  CHECK(search_past([] { throw std::runtime_error("could not create a primitive"); }).rejected ==
        "default: could not create a primitive");
  CHECK(search_past([] { ::_exit(0); }).rejected ==
        "default: the probe (at most 60 s) exited with code 0 before it was done");
}

TEST_CASE("the first mode that works is taken, and none after it is tried") {
  const auto work = [](Bfloat16Mode mode) {
    if (mode != kGood) throw ContractError("tried");
  };
  const Bfloat16Search search = search_bfloat16_mode({kGood, kBad}, work, kLimitSeconds);
  CHECK(search.proven == kGood);
  CHECK(search.rejected.empty());
}

TEST_CASE("without a mode, bfloat16 is refused in one sentence that names what became of each") {
  const auto work = [](Bfloat16Mode mode) {
    if (mode == Bfloat16Mode::kDefault) ::raise(SIGILL);
    throw ContractError("no");
  };
  const Bfloat16Search search =
      search_bfloat16_mode({Bfloat16Mode::kDefault, Bfloat16Mode::kAvx512Bf16}, work, kLimitSeconds);
  CHECK_FALSE(search.proven);
  CHECK_THROWS_WITH_AS(
      use_found(search),
      "--dtype bfloat16: on this CPU LibTorch's bfloat16 operations fail in every mode tried (default: "
      "the probe (at most 60 s) was killed by signal 4 (SIGILL); ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16: "
      "no); hint: --dtype float32",
      UsageError);
}

TEST_CASE("a mode is in force where it is tried, and nowhere else") {
  const std::string before = variable();
  const auto work = [&](Bfloat16Mode mode) {
    const bool has_onednn = at::globalContext().userEnabledMkldnn();
    const bool right = mode == Bfloat16Mode::kDefault      ? has_onednn && variable() == before
                       : mode == Bfloat16Mode::kAvx512Bf16 ? has_onednn && variable() == "AVX512_CORE_BF16"
                                                           : !has_onednn && variable() == before;
    if (!right) throw ContractError("not in force");
  };
  for (const Bfloat16Mode mode : {Bfloat16Mode::kDefault, Bfloat16Mode::kAvx512Bf16, Bfloat16Mode::kWithoutOnednn}) {
    CHECK(search_bfloat16_mode({mode}, work, kLimitSeconds).rejected.empty());
  }
  CHECK(variable() == before);
  CHECK(at::globalContext().userEnabledMkldnn());
}

TEST_CASE("a bfloat16's rounding agrees with float32; 1 in 50, a shift and a NaN do not") {
  const at::Tensor expected = at::arange(1, 1001, at::kFloat) / 7;
  const auto low = [](const at::Tensor& tensor) { return tensor.to(at::kBFloat16); };
  CHECK_NOTHROW(require_agreement("x", low(expected), expected));
  CHECK_NOTHROW(require_agreement("x", low(low(expected) * 1.004), expected));
  CHECK_THROWS_WITH_AS(require_agreement("x", low(expected * 1.02), expected),
                       "x is off by 0.02 of its norm, at most 0.016 expected", Error);
  CHECK_THROWS_AS(require_agreement("x", low(expected.roll(100)), expected), Error);
  CHECK_THROWS_AS(
      require_agreement(
          "x", low(expected).index_fill(0, at::zeros({1}, at::kLong), std::numeric_limits<double>::quiet_NaN()),
          expected),
      Error);
}

TEST_CASE("in the mode that was found for this CPU, a process computes as in float32") {
  const std::string before = variable();
  const std::optional<Bfloat16Mode> mode = proven_bfloat16_mode();
  CHECK(variable() == before);
  CHECK(at::globalContext().userEnabledMkldnn());
  if (!mode) {
    MESSAGE("no mode works on this CPU");
    CHECK_THROWS_AS(require_bfloat16(), UsageError);
    return;
  }
  MESSAGE("bfloat16 products: " << describe(*mode));
  CHECK_NOTHROW(run_in_child("the product", [&] {
    if (require_bfloat16() != *mode) throw ContractError("another mode");
    at::set_num_threads(1);
    // -1, 0 and 1: the sums of 96 products are exact in bfloat16 too.
    const at::Tensor a = exact_values({48, 96}, at::kBFloat16, 1), b = exact_values({96, 80}, at::kBFloat16, 2);
    if (!at::mm(a, b).to(at::kFloat).equal(at::mm(a.to(at::kFloat), b.to(at::kFloat)))) throw ContractError("wrong");
  }));
}

}  // namespace
}  // namespace lab
