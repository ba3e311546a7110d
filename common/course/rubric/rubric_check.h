#pragma once

#include <functional>
#include <string>

#include "common/course/rubric/rubric.h"

namespace lab {

/// Where an item is defined, "a9_collectives/rubric.toml:12": its id, "hand_in", "judging" or "" for the file.
using RubricPlace = std::function<std::string(const std::string& id)>;

/// A rubric's total and bonus total, computed from its marks: tasks, manual items, ladders and bonuses.
double marks_without_bonus(const Rubric& rubric);
double bonus_marks(const Rubric& rubric);

/// Refuses an inconsistent rubric, whether it was read or changed.
/// Errors    UsageError: the first thing that is wrong, with its place: an id that is used twice or does not begin
///           with the lab's name, marks that are negative, missing or do not add up, a need that does not exist or is
///           circular, not three hints, a path that leaves the lab's folder or is not handed in
void check_rubric(const Rubric& rubric, const RubricPlace& place);

/// True for "student/ring.cpp": a path that stays inside the folder that it is relative to.
bool is_inner_path(const std::string& path);

/// True if the path is one of these, or in a folder that is one of these.
bool is_below_any(const std::string& path, const std::vector<std::string>& files_or_folders);

}  // namespace lab
