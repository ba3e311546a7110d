#pragma once

#include <string>
#include <vector>

#include "common/base/moment.h"

namespace lab {

struct Rubric;

/// What students do not see before a moment: an entry [[release]] of an instructor's file.
struct RubricRelease {
  Moment at;
  std::vector<std::string> what;  ///< "seed": the one that replays; ids of items; names of checks
};

inline constexpr char kReleasedSeed[] = "seed";

/// The rubric as it is for students at a moment: releases that are due are gone, and the items of the others are hidden,
/// whatever their visibility.
Rubric as_of(Rubric rubric, const Moment& now);

/// What a release may name of a rubric itself: the seed, and its items.
std::vector<std::string> releasable(const Rubric& rubric);

/// Those of what releases name that are neither the seed nor items of the rubric: they must be checks of the lab.
std::vector<std::string> released_checks(const Rubric& rubric);

}  // namespace lab
