#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lab::grading {

/// What a C++ text, not preprocessed, may mean to another text that follows it in one unit.
struct NamespaceNames {
  /// Names that it may declare in a namespace, some of which it only uses there. With the whole name for a using
  /// declaration ("std::min"), else empty.
  std::map<std::string, std::string> declared;
  std::set<std::string> used;         ///< all names in it
  std::vector<std::string> includes;  ///< what it includes in quotes
  std::vector<std::string> system_includes;
  /// Whether that is all. False: it does, or may do, what no list of names tells, by a preprocessor line other than an
  /// include or `#pragma once`, a using directive, an enumeration without scope, an operator, a specialization, or what
  /// plain C++ does not have outside strings and comments.
  bool is_complete = true;
};

/// Errors    UsageError: cannot be cut into tokens
NamespaceNames namespace_names(const std::string& text);

}  // namespace lab::grading
