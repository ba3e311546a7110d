#pragma once

#include <vector>

#include "a9_collectives/calls/calls.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"

namespace lab::a9 {

/// Everything that the lab checks, in the order of its log.
std::vector<Section> sections();

/// The cases of all sections, and those that are no part of a run.
std::vector<Case> all_cases();

/// The program.
std::vector<LabStep> program_steps();

/// For the judge.
GradedLab graded_lab();

/// The better algorithms by name, with bounds on what makes them better: rounds, messages or bytes.
std::vector<Case> algorithm_cases();

/// The five collectives and the better algorithms on fewer elements than ranks, after a call in a subgroup on scalars
/// or on tensors without elements, of another dtype; not part of a run.
std::vector<Case> subgroup_cases();

/// The same on transposed tensors of another dtype and shape, broadcast from the rank in the middle, and all-reduces to
/// the same bits on all ranks; not part of a run.
std::vector<Case> strided_algorithm_cases();

/// The five collectives: each at least once on the handout's numbers, and on data of other shapes, dtypes and
/// strides, from other ranks and along other dimensions. Their bounds require the result to have arrived by
/// messages.
std::vector<Case> collective_cases();

/// What a solution may have left out, besides: bfloat16, empty tensors, scalars, slices of a storage, dimensions that
/// are equal or counted from the end, sizes up to 8 MiB, and the bits of rounded sums; not part of a run.
std::vector<Case> further_collective_cases();

/// The handout's checks of the Transformer: TensorParallelShards, TensorParallel and Ulysses, at its sizes in float32,
/// which are skipped where its 4 heads do not divide by the number of ranks; with 2 heads on each rank in float64; and
/// OwnCollectives.
std::vector<Case> transformer_cases();

/// Beyond the handout: gradients. ParallelFunctions on exact data, TensorParallelGrad, UlyssesGrad.
std::vector<Case> transformer_gradient_cases();

/// The functions twice before they go backward, on tensors of different sizes, along other dimensions and with
/// gradients of other strides, and on random numbers; not part of a run.
std::vector<Case> unprinted_function_cases();

}  // namespace lab::a9
