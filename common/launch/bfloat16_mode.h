#pragma once

#include <optional>
#include <string>

namespace lab {

/// How bfloat16 matrix products are computed. On some CPUs LibTorch 1.13's own choice dies of an illegal instruction.
enum class Bfloat16Mode {
  kDefault,        ///< as LibTorch and the environment have it
  kAvx512Bf16,     ///< ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16: oneDNN without newer instructions, such as AMX
  kWithoutOnednn,  ///< LibTorch's own loops: slow
};

/// The first of the modes above in which LibTorch's bfloat16 operations run and agree with float32, or nothing. Each is
/// tried in a process of its own, so that this one stays as it is: alive, and without a thread pool.
/// Call      as run_in_child(), before this process has done tensor work; about 0.1 s a mode, at most 20 s
/// Errors    UsageError: the system refuses another process
std::optional<Bfloat16Mode> proven_bfloat16_mode();

/// Computes in this mode from now on, in this process and in those that it forks. kDefault changes nothing.
/// Call      before oneDNN is first used, which reads the environment once: in a launcher before it forks its ranks, in
///           a rank that joins a world before its first tensor operation
void use_bfloat16_mode(Bfloat16Mode mode);

/// "default", "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16" or "without oneDNN".
std::string describe(Bfloat16Mode mode);

/// Uses the proven mode, and says which it is.
/// Call      as proven_bfloat16_mode() and use_bfloat16_mode()
/// Errors    UsageError: none was proven; what became of each is in the sentence
/// Example   if (dtype == at::kBFloat16) log("bfloat16 products: " + describe(require_bfloat16()));
Bfloat16Mode require_bfloat16();

}  // namespace lab
