#pragma once

#include "common/report/errors.h"

// Commands that make checkpoints.
namespace lab::vae {

/// `train --out FILE ...`: trains the small autoencoder on generated pictures.
ExitCode train_command(int argc, char** argv);

/// `init --config flux|small --out FILE`: seeded parameters, as before any training, for trying sizes and load times.
ExitCode init_command(int argc, char** argv);

}  // namespace lab::vae
