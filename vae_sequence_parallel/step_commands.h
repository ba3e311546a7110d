#pragma once

#include "common/report/errors.h"
#include "vae_sequence_parallel/steps.h"

namespace lab {
class App;
}

namespace lab::vae {

/// The options of a reconstruction, but for those that every lab shares: --image, --size, --checkpoint.
void add_step_options(App& app, StepOptions& options);

/// `encode [--image FILE] ...` and `baseline ...`, each in this process alone.
ExitCode encode_command(int argc, char** argv);
ExitCode baseline_command(int argc, char** argv);

/// `compare [FILE FILE]`: how far two pictures are apart, in figures and as a picture.
ExitCode compare_command(int argc, char** argv);

}  // namespace lab::vae
