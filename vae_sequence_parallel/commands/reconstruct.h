#pragma once

#include "common/checks/lab_step.h"
#include "vae_sequence_parallel/commands/steps.h"

namespace lab::vae {

/// The test step: all ranks decode the latent together, and each compares the picture with the baseline's. Each rank
/// prints a match line and its peak activation memory next to that of one process; rank 0 writes
/// reconstructed_parallel.jpg and .safetensors and compares the samples of the two JPEGs.
/// Call      collective; rank 0 reads the files of the previous steps, the others only the checkpoint
void reconstruct(RankRun& run, const StepOptions& options);

}  // namespace lab::vae
