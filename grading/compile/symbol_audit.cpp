#include "grading/compile/symbol_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

constexpr std::string_view kForbidden = ": forbidden: ";
constexpr std::string_view kUnlisted = ": unlisted: ";
constexpr std::string_view kHint = "; use instead: ";

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

}  // namespace

std::map<std::string, AuditedObject> parse_symbol_audit(const std::string& printed,
                                                        const std::set<std::string>& objects) {
  std::map<std::string, AuditedObject> found;
  for (const std::string& whole_line : list_lines(printed)) {
    const std::string_view line = without_line_break(whole_line);
    for (const std::string& object : objects) {
      if (!begins_with(line, object)) continue;
      const std::string_view offence = line.substr(object.size());
      if (begins_with(offence, kForbidden)) {
        const std::string_view symbol = offence.substr(kForbidden.size());
        found[object].forbidden.push_back(one_line(symbol.substr(0, symbol.rfind(kHint))));
      } else if (begins_with(offence, kUnlisted)) {
        found[object].unlisted.insert(one_line(offence.substr(kUnlisted.size())));
      }
    }
  }
  return found;
}

AcceptedSymbols::AcceptedSymbols(const std::string& names) {
  if (names.empty()) return;
  for (const std::string_view name : split(names, ',')) {
    names_.insert(one_line(name));
    if (names_.count("") != 0)
      throw UsageError(
          fmt::format("--accept: expected names of symbols, such as getenv,at::set_num_threads, got '{}'; "
                      "hint: '*' accepts all",
                      names));
  }
}

std::set<std::string> AcceptedSymbols::others(const std::set<std::string>& unlisted) const {
  std::set<std::string> others;
  if (names_.count("*") == 0)
    std::set_difference(unlisted.begin(), unlisted.end(), names_.begin(), names_.end(),
                        std::inserter(others, others.end()));
  return others;
}

}  // namespace lab::grading
