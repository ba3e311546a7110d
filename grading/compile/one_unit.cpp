#include "grading/compile/one_unit.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <vector>

#include "common/api/errors.h"
#include "grading/tokens/namespace_names.h"

namespace lab::grading {
namespace {

using HeaderOf = std::function<std::optional<std::string>(const std::string&)>;

/// What cannot be cut into tokens has no names, and these are not all.
NamespaceNames names_in(const std::string& text) {
  try {
    return namespace_names(text);
  } catch (const UsageError&) {
    NamespaceNames unknown;
    unknown.is_complete = false;
    return unknown;
  }
}

/// The headers of the tree, each read once.
class Headers {
 public:
  explicit Headers(const HeaderOf& header) : header_(header) {}

  /// What is included in quotes from the file at `from`, with all that this includes. False: something is not there.
  bool add_all(const std::vector<std::string>& includes, const std::string& from, std::set<std::string>& all) {
    return std::all_of(includes.begin(), includes.end(), [&](const std::string& include) {
      const std::filesystem::path beside = std::filesystem::path(from).parent_path() / include;
      for (const std::string& path : {beside.lexically_normal().string(), include}) {
        if (!read(path)) continue;
        return !all.insert(path).second || add_all(names_.at(path).includes, path, all);
      }
      return false;
    });
  }

  const std::map<std::string, std::string>& declared(const std::string& path) const { return names_.at(path).declared; }

 private:
  bool read(const std::string& path) {
    if (names_.count(path) != 0) return true;
    const std::optional<std::string> text = header_(path);
    if (!text) return false;
    names_[path] = names_in(*text);  // complete or not: macros and operators in the suite's own headers harm nobody
    return true;
  }

  const HeaderOf& header_;
  std::map<std::string, NamespaceNames> names_;
};

using Declared = std::map<std::string, std::string>;

bool declares_any(const Declared& declared, const std::set<std::string>& used) {
  return std::any_of(declared.begin(), declared.end(), [&](const auto& one) { return used.count(one.first) != 0; });
}

/// Whether the text uses a name that another one declares, unless both mean the same by it.
bool could_mean(const NamespaceNames& text, const std::string& name, const std::string& whole_name) {
  if (text.used.count(name) == 0) return false;
  const auto own = text.declared.find(name);
  return whole_name.empty() || own == text.declared.end() || own->second != whole_name;
}

/// A file, with what it and the headers it includes declare.
struct File {
  std::string path;
  NamespaceNames names;
  Declared promised;
  std::set<std::string> headers;  // that it includes, directly or not
};

/// Whether no file of the unit uses a name that another one, or a header that only the other one includes, may declare.
bool mean_the_same(const std::vector<const File*>& unit, const Headers& headers) {
  std::set<std::string> any_header;
  for (const File* one : unit) any_header.insert(one->headers.begin(), one->headers.end());
  Declared of_headers;
  for (const std::string& path : any_header)
    of_headers.insert(headers.declared(path).begin(), headers.declared(path).end());
  for (const File* one : unit) {
    for (const std::string& path : any_header) {
      if (one->headers.count(path) == 0 && declares_any(headers.declared(path), one->names.used)) return false;
    }
    for (const auto& [name, whole_name] : one->names.declared) {
      if (one->promised.count(name) != 0 && of_headers.count(name) != 0) continue;
      const bool is_used =
          std::any_of(unit.begin(), unit.end(), [&, &last_name = name, &full_name = whole_name](const File* other) {
            return other != one && could_mean(other->names, last_name, full_name);
          });
      if (is_used) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::set<std::string>> list_units(const std::map<std::string, UnitFile>& files, const HeaderOf& header,
                                              const std::string& always) {
  Headers headers(header);
  std::set<std::string> everywhere;
  const bool is_known = headers.add_all({always}, "", everywhere);
  std::vector<std::set<std::string>> alone;
  std::deque<File> all;
  std::vector<std::vector<const File*>> units;
  for (const auto& [path, file] : files) {
    File read{path, names_in(file.text), names_in(file.reference).declared, everywhere};
    if (!is_known || !read.names.is_complete || !headers.add_all(read.names.includes, path, read.headers)) {
      alone.push_back({path});
      continue;
    }
    all.push_back(std::move(read));
    const auto takes_it = [&](std::vector<const File*> unit) {
      unit.push_back(&all.back());
      return mean_the_same(unit, headers);
    };
    const auto unit = std::find_if(units.begin(), units.end(), takes_it);
    if (unit == units.end()) {
      units.push_back({&all.back()});
    } else {
      unit->push_back(&all.back());
    }
  }
  std::vector<std::set<std::string>> result;
  for (const std::vector<const File*>& unit : units) {
    result.emplace_back();
    for (const File* one : unit) result.back().insert(one->path);
  }
  result.insert(result.end(), alone.begin(), alone.end());
  return result;
}

std::set<std::string> may_need_headers_of_others(const std::map<std::string, UnitFile>& files,
                                                 const std::set<std::string>& precompiled) {
  const auto is_precompiled = [&](const std::string& header) {
    const std::string end = "/" + header;
    return std::any_of(precompiled.begin(), precompiled.end(), [&](const std::string& path) {
      return path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
    });
  };
  std::map<std::string, std::set<std::string>> further;
  std::set<std::string> any_further;
  for (const auto& [path, file] : files) {
    std::set<std::string>& own = further[path];
    for (const std::string& header : names_in(file.text).system_includes) {
      if (!is_precompiled(header)) own.insert(header);
    }
    any_further.insert(own.begin(), own.end());
  }
  std::set<std::string> result;
  for (const auto& [path, own] : further) {
    if (own != any_further) result.insert(path);
  }
  return result;
}

}  // namespace lab::grading
