#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lab::grading {

/// What the audit of symbols has found in a compiled student file.
struct AuditedObject {
  std::vector<std::string> forbidden;  ///< "fork", "a section of type NOTE: .x": the file is refused
  std::set<std::string> unlisted;      ///< "at::Context::setBenchmarkCuDNN": somebody has to look, or has accepted it
};

/// Reads what labaudit (common/course/audit) prints; its hints are for students, and left out.
/// Returns   those of `objects`, by path, in which something was found
std::map<std::string, AuditedObject> parse_symbol_audit(const std::string& printed,
                                                        const std::set<std::string>& objects);

/// The symbols that an instructor accepts: "at::Context::setBenchmarkCuDNN,getenv", or "*" for all.
class AcceptedSymbols {
 public:
  /// Errors    UsageError: an empty name
  explicit AcceptedSymbols(const std::string& names = "");

  /// Those of `unlisted` that nobody has accepted.
  std::set<std::string> others(const std::set<std::string>& unlisted) const;

 private:
  std::set<std::string> names_;
};

}  // namespace lab::grading
