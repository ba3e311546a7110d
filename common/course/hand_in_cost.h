#pragma once

#include <string>

#include "common/course/rubric.h"

namespace lab {

/// What a hand-in loses without this file, to follow "which": "costs up to 12 marks", "costs up to 3 bonus marks",
/// "costs the rungs of a ladder that ask for it", "costs no marks by itself".
/// Example   a9's written_answers_task1.md, which Q1 to Q3 are marked by: "costs up to 12 marks"
std::string cost_of(const Rubric& lab, const std::string& file);

}  // namespace lab
