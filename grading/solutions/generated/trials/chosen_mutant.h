#pragma once

#include <initializer_list>
#include <vector>

/// What mutated student files call (source_mutants.h): which of these mutants this process runs; 0: none of them.
int lab_mutant(std::initializer_list<int> ids) noexcept;

namespace lab::grading::generated {

/// From now on; 0: none, the original.
void choose_mutant(int id);

/// Notes which mutants' functions are called from now on. They are numbered up to `most`.
void note_places(int most);
/// Those that were called since then, in order.
std::vector<int> noted_places();

}  // namespace lab::grading::generated
