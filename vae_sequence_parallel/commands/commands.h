#pragma once

#include "common/base/errors.h"
#include "common/cli/app.h"
#include "vae_sequence_parallel/commands/steps.h"

namespace lab::vae {

/// The options of a reconstruction, except those shared by all labs: --image, --size, --checkpoint.
void add_step_options(App& app, StepOptions& options);

/// `encode [--image FILE] ...` and `baseline ...`, each in this process alone.
ExitCode encode_command(int argc, char** argv);
ExitCode baseline_command(int argc, char** argv);

/// `compare [FILE FILE]`: how much two pictures differ, in numbers and as a picture.
ExitCode compare_command(int argc, char** argv);

// Commands that measure the decoder.
/// `memory`: bytes of parameters and activations per rank, for several numbers of ranks; a table and a plot.
ExitCode memory_command(int argc, char** argv);

/// `bench`: the decoding time, serial and parallel, in one run.
ExitCode bench_command(int argc, char** argv);

// Commands that make checkpoints.
/// `train --out FILE ...`: trains the small autoencoder on generated pictures.
ExitCode train_command(int argc, char** argv);

/// `init --config flux|small --out FILE`: untrained, seeded parameters, for trying sizes and load times.
ExitCode init_command(int argc, char** argv);

}  // namespace lab::vae
