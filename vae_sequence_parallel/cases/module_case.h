#pragma once

#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/cases/module_under_test.h"

// A case of any module that takes a picture: the serial module says what comes out, its costs what may be sent.
namespace lab::vae {

/// Inputs "input.x", this rank's columns, "input.widths" of all ranks, "weight.<name>". Expected: "out", "widths", as
/// the serial module has it in float64.
struct ModuleCase {
  std::string task, name;
  ModuleUnderTest module;
  PictureSetup picture;        ///< its channels are those of the module
  bool with_gradient = false;  ///< "input.grad_out" as well; "x.grad", and "<name>.grad", summed over ranks
  bool costed = false;         ///< held to its bounds
  bool in_float64 = true;      ///< false: by the serial module in float32, where its own error is near the tolerance
};
Case case_of(ModuleCase test_case);

/// The same on the ranks with even numbers and, at the same time, on those with odd ones: "every_other_rank" is 1.
Case every_other_rank(const Case& test_case);

}  // namespace lab::vae
