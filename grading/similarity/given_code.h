#pragma once

#include <map>
#include <string>

#include "grading/similarity/compared_code.h"

namespace lab::grading {

/// What students are given, by lab ("a9_collectives"): the starter's student files, and all C++ that comes with them.
/// `source` is the suite's own tree.
/// Errors    as derive_starter()
std::map<std::string, BaseCode> given_code(const std::string& source, const WinnowingSizes& sizes = WinnowingSizes());

}  // namespace lab::grading
