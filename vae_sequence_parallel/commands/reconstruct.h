#pragma once

#include "common/checks/lab_main.h"
#include "vae_sequence_parallel/commands/steps.h"

namespace lab::vae {

/// The step test: every rank decodes the latent together with the others and holds the picture against the baseline's.
/// Prints a match line per rank, and what it held of activations beside what one process holds; rank 0 writes
/// reconstructed_parallel.jpg and .safetensors and compares the samples of the two JPEGs.
/// Call      collective; rank 0 reads the files of the steps before, the others only the checkpoint
void reconstruct(RankRun& run, const StepOptions& options);

}  // namespace lab::vae
