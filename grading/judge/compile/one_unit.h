#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace lab::grading {

struct UnitFile {
  std::string text;
  std::string reference;  ///< the reference's text: it defines what a header promises under the same names
};

/// Whether each of these files means the same when all are compiled as one unit, provided that each is valid alone: no
/// file uses a name that another one, or a header that only the other one includes, may declare in a namespace, and none
/// does what no list of names tells (namespace_names()).
/// `files`: by path from the tree's root. `header`: a header's text by such a path, or nothing. `always`: a header that
/// is compiled before any file.
/// Example   two files with a helper `part()` each, in unnamed namespaces, do not: calls could find the other one's
bool mean_the_same_as_one(const std::map<std::string, UnitFile>& files,
                          const std::function<std::optional<std::string>(const std::string&)>& header,
                          const std::string& always);

}  // namespace lab::grading
