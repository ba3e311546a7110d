#pragma once

#include <string>

namespace lab {

/// "1 rank", "3 ranks"; "2 micro-batches" where the plural is given, too.
template <typename Integer>
std::string counted(Integer count, const std::string& one, const std::string& many = "") {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace lab
