#pragma once

#include <vector>

/// What mutated student files call (source_mutants.h): whether this process runs this mutant.
bool lab_mutant(int id) noexcept;

namespace lab::grading::generated {

/// From now on; 0: none, the original.
void choose_mutant(int id);

/// Notes which mutants' places are passed from now on. They are numbered up to `most`.
void note_places(int most);
/// Those that were passed since then, in order.
std::vector<int> noted_places();

}  // namespace lab::grading::generated
