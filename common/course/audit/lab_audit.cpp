#include "common/course/audit/lab_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/audit/symbol_audit.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The student file that an object was compiled from, from the root; empty: it is not one of the lab's. CMake puts
/// objects into a folder of the lab, or names the lab's folder in their path.
std::string find_source(const std::string& object, const std::string& lab) {
  const std::size_t target = object.rfind(".dir/");
  if (target == std::string::npos || !ends_with(object, ".o")) return "";
  std::string source = object.substr(target + 5, object.size() - target - 7);
  if (source.rfind("student/", 0) == 0 && object.find("/" + lab + "/CMakeFiles/") != std::string::npos)
    source.insert(0, lab + "/");
  return source.rfind(lab + "/student/", 0) == 0 ? source : "";
}

bool has_word(const std::string& line, const std::string& word) {
  const auto is_part = [&](std::size_t at) {
    return at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_');
  };
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

/// The first line, from 1, with the last part of the symbol's name, or with what students call in its place; 0: none.
std::size_t make_line(const std::string& symbol, const std::string& text) {
  std::string name = symbol.substr(0, symbol.find('('));
  if (const std::size_t last = name.rfind("::"); last != std::string::npos) name.erase(0, last + 2);
  std::vector<std::string> words = {name};
  if (symbol.rfind("torch::serialize::", 0) == 0) words.push_back(name.substr(0, name.rfind('_')));  // torch::save
  if (symbol.rfind("std::filesystem::", 0) == 0) words.emplace_back("filesystem");
  if (symbol.rfind("std::basic_", 0) == 0) words.insert(words.end(), {"fstream", "ifstream", "ofstream"});
  const std::vector<std::string> lines = list_lines(text);
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    const bool is_directive = line[std::min(line.find_first_not_of(' '), line.size())] == '#';
    return !is_directive && std::any_of(words.begin(), words.end(),
                                        [&](const auto& word) { return !word.empty() && has_word(line, word); });
  });
  return found == lines.end() ? 0 : static_cast<std::size_t>(found - lines.begin()) + 1;
}

/// When all of a lab's objects were last audited, and nothing was to be said. Objects that are older need no second look,
/// unless a rule is younger.
class CleanAudit {
 public:
  CleanAudit(const std::string& root, const std::string& lab, const std::string& rules)
      : file_(fmt::format("{}/build/release/{}.audited", root, lab)), begun_(file_ + ".begun") {
    std::error_code missing;
    last_ = fs::last_write_time(file_, missing);
    if (missing) last_ = fs::file_time_type::min();
    for (const auto& rule : fs::directory_iterator(rules, missing)) {
      if (rule.last_write_time(missing) >= last_) last_ = fs::file_time_type::min();
    }
    write_file_atomically(begun_, "");  // what is compiled from now on is younger
  }

  bool covers(const std::string& object) const {
    std::error_code missing;
    return fs::last_write_time(object, missing) < last_ && !missing;
  }
  void finish(bool is_clean) const {
    std::error_code missing;
    if (is_clean) fs::rename(begun_, file_, missing);
    else fs::remove(file_, missing);
  }

 private:
  std::string file_, begun_;
  fs::file_time_type last_;
};

}  // namespace

LabAudit audit_lab(const std::string& root, const std::string& lab) {
  std::map<std::string, std::string> sources;  // by object
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(root + "/build/release", missing)) {
    const std::string source = find_source(entry.path().string(), lab);
    if (!source.empty() && fs::is_regular_file(root + "/" + source)) sources[entry.path().string()] = source;
  }
  LabAudit audit;
  if (sources.empty()) return audit;
  const std::string rules = root + "/common/course/audit";
  const CleanAudit before(root, lab, rules);
  std::vector<std::string> objects, known;
  for (const auto& [object, source] : sources) (before.covers(object) ? known : objects).push_back(object);
  if (objects.empty()) return audit;
  for (const SymbolOffence& offence : audit_symbols(rules, objects, true, known)) {
    const std::string& source = sources.at(offence.file);
    const std::size_t colon = offence.place.rfind(':');
    std::string line;
    if (colon != std::string::npos && ends_with(offence.place.substr(0, colon), "/" + source)) {
      line = offence.place.substr(colon);
    } else if (const std::size_t number = make_line(offence.symbol, read_file(root + "/" + source)); number != 0) {
      line = fmt::format(":{}", number);
    }
    std::string what = offence.symbol, hint = offence.hint;
    if (offence.kind == SymbolOffence::Kind::kForbidden) {
      what += ": student code must not use it";
      audit.refused.insert(source);
    } else {
      what.insert(0, "note: ");
    }
    if (offence.kind == SymbolOffence::Kind::kUnlisted) {
      what += " is not on the list of what student code may use, so whoever grades it has to look first";
      hint = "the lab's headers, tensor functions, the C++ library";
    }
    audit.lines.push_back(fmt::format("{}{}: {}; use instead: {}", source, line, what, hint));
  }
  before.finish(audit.lines.empty());
  if (!audit.refused.empty())
    audit.lines.push_back(
        fmt::format("the grading would refuse these files of {}, and nothing in them would count", lab));
  return audit;
}

}  // namespace lab
