#pragma once

#include "common/cli/app.h"
#include "vae_sequence_parallel/commands/steps.h"

namespace lab::vae {

/// The options of a reconstruction, except those shared by all labs: --image, --size, --checkpoint.
void add_step_options(cli::App& app, StepOptions& options);

/// --memory-limit, of `baseline` and `test`.
void add_memory_limit(cli::App& app, StepOptions& options);

// Each function gives a command its options and its action.

/// `encode [--image FILE] ...` and `baseline ...`, each in this process alone.
void encode_command(cli::App& app);
void baseline_command(cli::App& app);

/// `compare [FILE FILE]`: how much two pictures differ, in numbers and as a picture.
void compare_command(cli::App& app);

// Commands that measure the decoder.
/// `memory`: bytes of parameters and activations per rank, for several numbers of ranks; a table and a plot.
void memory_command(cli::App& app);

// Commands that make checkpoints: checkpoint/train.cpp.
/// `train --out FILE ...`: trains the small autoencoder on generated pictures.
void train_command(cli::App& app);

/// `init --config flux|small --out FILE`: untrained, seeded parameters, for trying sizes and load times.
void init_command(cli::App& app);

}  // namespace lab::vae
