#include "common/launch/bfloat16_mode.h"

#include <ATen/Context.h>

#include <cstdlib>

#include "common/launch/bfloat16_search.h"

namespace lab {
namespace {

constexpr char kInstructionSetVariable[] = "ONEDNN_MAX_CPU_ISA";
constexpr char kAvx512Bf16Isa[] = "AVX512_CORE_BF16";

constexpr unsigned kLimitSeconds = 20;  // of a trial that takes about 0.05 s on an idle core

Bfloat16Search search() {
  return search_bfloat16_mode(
      {Bfloat16Mode::kDefault, Bfloat16Mode::kAvx512Bf16, Bfloat16Mode::kWithoutOnednn},
      [](Bfloat16Mode) { check_bfloat16_operations(); }, kLimitSeconds);
}

}  // namespace

std::optional<Bfloat16Mode> proven_bfloat16_mode() {
  return search().proven;
}

void use_bfloat16_mode(Bfloat16Mode mode) {
  switch (mode) {
    case Bfloat16Mode::kDefault: break;
    case Bfloat16Mode::kAvx512Bf16: ::setenv(kInstructionSetVariable, kAvx512Bf16Isa, 1); break;
    case Bfloat16Mode::kWithoutOnednn: at::globalContext().setUserEnabledMkldnn(false); break;
  }
}

std::string describe(Bfloat16Mode mode) {
  switch (mode) {
    case Bfloat16Mode::kDefault: return "default";
    case Bfloat16Mode::kAvx512Bf16: return std::string(kInstructionSetVariable) + "=" + kAvx512Bf16Isa;
    case Bfloat16Mode::kWithoutOnednn: return "without oneDNN";
  }
  return "unknown";
}

Bfloat16Mode require_bfloat16() {
  return use_found(search());
}

}  // namespace lab
