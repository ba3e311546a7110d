#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lab::grading {

struct UnitFile {
  std::string text;
  std::string reference;  ///< the reference's text: it defines what a header promises under the same names
};

/// Divides files into units, few of them, so that each file means the same in its unit as alone, provided that it is
/// valid alone: no file uses a name that another one of the unit, or a header of the tree that only the other one
/// includes, may declare in a namespace, and none does what no list of names tells (namespace_names()).
/// `files`: by path from the tree's root. `header`: a header's text by such a path, or nothing. `always`: a header that
/// is compiled before any file.
/// Returns   the paths of each unit
/// Example   two files with a helper `part()` each, in unnamed namespaces, are two units: calls could find the other's
std::vector<std::set<std::string>> list_units(
    const std::map<std::string, UnitFile>& files,
    const std::function<std::optional<std::string>(const std::string&)>& header, const std::string& always);

/// Of files that mean the same as one unit, those that are not sure to be valid alone if the unit is: a system header
/// that another one includes is neither among their own nor in the precompiled header.
/// `precompiled`: paths of all files in it; none: unknown
/// Returns   the paths of these files
std::set<std::string> may_need_headers_of_others(const std::map<std::string, UnitFile>& files,
                                                 const std::set<std::string>& precompiled);

}  // namespace lab::grading
