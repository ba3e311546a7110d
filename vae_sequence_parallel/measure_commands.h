#pragma once

#include "common/report/errors.h"

// Commands that measure the decoder.
namespace lab::vae {

/// `memory`: what a rank holds of parameters and of activations, for several numbers of ranks; a table and a plot.
ExitCode memory_command(int argc, char** argv);

/// `bench`: the time of a decoding, alone and in parallel, in one run.
ExitCode bench_command(int argc, char** argv);

}  // namespace lab::vae
