#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

// What students do to a copy so that it does not look like one. Texts are cut up and put together here by other means
// than those of the comparison that is tested.
namespace lab::grading {

using Files = std::map<std::string, std::string>;  ///< name -> text

struct Disguise {
  std::string name;
  std::function<Files(const Files&)> apply;
};

/// Each alone, and last of all together.
const std::vector<Disguise>& disguises();

}  // namespace lab::grading
