#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lab::grading {

/// A token without what a disguise changes.
struct NormalToken {
  std::uint64_t kind = 0;          ///< equal for tokens that count as the same
  std::size_t begin = 0, end = 0;  ///< bytes of the file's text
  int line = 1;
};

struct NormalFile {
  std::string name, text;
  std::vector<NormalToken> tokens;
};

/// Files as they are compared. Comments, formatting, preprocessor lines, braces, namespaces and `const` are left out.
/// All names of variables, types and fields are the same, and so are those of functions that the files define; names of
/// the functions that they call stay, as a student cannot rename these. So do numbers; strings are all the same. Tables,
/// that is braces around rows of nothing but constants, are left out: what was measured on like machines is alike.
/// Takes whatever text there is, C++ or not.
/// Example   "const at::Tensor sum = at::add(x, 1);" and "auto s=add(y,1);" are the same ten tokens
std::vector<NormalFile> normal_code(const std::map<std::string, std::string>& files);

}  // namespace lab::grading
