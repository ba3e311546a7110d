#include "grading/compile/student_build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "grading/compile/compiler.h"
#include "grading/compile/link_objects.h"
#include "grading/tokens/namespace_names.h"

namespace lab::grading {
namespace {

using Texts = std::map<std::string, std::string>;

std::set<std::string> list_names(const Texts& unit) {
  std::set<std::string> names;
  for (const auto& [name, text] : unit) names.insert(name);
  return names;
}

/// The files of a unit that the compiler's errors name.
std::set<std::string> named_in(const std::string& errors, const std::string& lab, const Texts& unit) {
  std::set<std::string> named;
  for (const std::string& line : list_lines(errors)) {
    if (line.find("error") == std::string::npos && line.find(" from ") == std::string::npos) continue;
    for (const auto& [name, text] : unit) {
      if (line.find(fmt::format("{}/{}:", lab, name)) != std::string::npos) named.insert(name);
    }
  }
  return named;
}

/// "c10d::ProcessGroup::send(int)" -> "send"
std::string last_name(const std::string& symbol) {
  constexpr char kOfNames[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const std::string name = symbol.substr(0, symbol.find('('));
  const std::size_t last = name.find_last_of(kOfNames);
  if (last == std::string::npos) return "";
  const std::size_t before = name.find_last_not_of(kOfNames, last);
  return name.substr(before + 1, last - before);  // npos + 1 is 0
}

/// The files of a unit in which the last name of one of the symbols is found.
std::set<std::string> find_users(const std::vector<std::string>& symbols, const Texts& unit) {
  std::set<std::string> users;
  for (const auto& [name, text] : unit) {
    const std::set<std::string> used = namespace_names(text).used;
    if (std::any_of(symbols.begin(), symbols.end(), [&](const auto& one) { return used.count(last_name(one)) != 0; }))
      users.insert(name);
  }
  return users;
}

/// How files are compiled: some in units, the others one by one.
struct FileUnits {
  std::vector<Texts> together;
  Texts apart;

  explicit FileUnits(std::vector<Texts> units) : together(std::move(units)) { keep_units(); }

  /// Takes the suspects out of each unit without an object, or all its files if there are none. False: all have one.
  bool set_apart(const std::vector<std::string>& objects, const std::vector<std::set<std::string>>& suspects) {
    bool any = false;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (!objects[i].empty()) continue;
      any = true;
      for (const std::string& name : suspects[i]) apart.insert(together[i].extract(name));
      if (suspects[i].empty()) apart.merge(together[i]);
    }
    if (any) keep_units();
    return any;
  }

 private:
  void keep_units() {
    const auto is_unit = [](const Texts& unit) { return unit.size() > 1; };
    const auto end = std::stable_partition(together.begin(), together.end(), is_unit);
    for (auto unit = end; unit != together.end(); ++unit) apart.merge(*unit);
    together.erase(end, together.end());
  }
};

}  // namespace

StudentBuilder::StudentBuilder(BuildRecipe recipe, const ObjectStore& store, const Sandbox& sandbox,
                               AcceptedSymbols accepted)
    : recipe_(std::move(recipe)), store_(store), sandbox_(sandbox), accepted_(std::move(accepted)) {}

std::map<std::string, AuditedObject> StudentBuilder::audited(const std::set<std::string>& objects) const {
  if (objects.empty()) return {};
  const launch::RunDirectory work;
  const std::string rules = recipe_.root + "/common/course/audit";
  const std::string program = recipe_.folder + "/" + kProgramFolder + "labaudit";
  SandboxJob job = tool_job(work.path(), {program, rules});
  job.argv.insert(job.argv.end(), objects.begin(), objects.end());
  job.readable = {rules, program};
  job.readable.insert(job.readable.end(), objects.begin(), objects.end());
  const SandboxResult audit = sandbox_.run_or_give_up(job);
  constexpr int kClean = 0, kFound = 1;
  if (audit.exit_code == kClean || audit.exit_code == kFound) return parse_symbol_audit(audit.out, objects);
  // One object is too much for it: the others must not suffer.
  std::map<std::string, AuditedObject> found;
  if (objects.size() == 1) {
    found[*objects.begin()].forbidden = {fmt::format("something that cannot be audited: the audit {}", audit.ending())};
    return found;
  }
  for (const std::string& object : objects) found.merge(audited({object}));
  return found;
}

std::vector<std::string> StudentBuilder::find_offences(const std::string& object,
                                                       const std::map<std::string, AuditedObject>& found) const {
  std::vector<std::string> offences;
  if (const auto audit = found.find(object); audit != found.end()) {
    offences = audit->second.forbidden;
    const std::set<std::string> unlisted = accepted_.others(audit->second.unlisted);
    offences.insert(offences.end(), unlisted.begin(), unlisted.end());
  }
  if (const std::string check = called_check(object); !check.empty()) offences.push_back(check);
  return offences;
}

std::string StudentBuilder::called_check(const std::string& object) const {
  const launch::RunDirectory work;
  SandboxJob job = tool_job(work.path(), {"nm", "-u", object});
  job.readable = {object};
  const SandboxResult undefined = sandbox_.run_or_give_up(job);
  std::istringstream lines(undefined.out);
  std::string kind, symbol;
  while (lines >> kind >> symbol) {
    if (recipe_.of_checks.count(symbol) == 0) continue;
    job.argv = {"c++filt", symbol};
    std::string name = sandbox_.run_or_give_up(job).out;
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return name;
  }
  return "";
}

void StudentBuilder::add_compiled(const std::map<std::string, CompiledSource>& compiled,
                                  const std::map<std::string, AuditedObject>& found, StudentBuild& result,
                                  std::map<std::string, std::string>& objects) const {
  for (const auto& [name, source] : compiled) {
    if (source.object.empty()) {
      result.replaced[name] = "it does not compile:\n" + first_errors(source.errors);
      continue;
    }
    const auto offences = found.find(source.object);
    const AuditedObject audit = offences == found.end() ? AuditedObject() : offences->second;
    std::vector<std::string> forbidden = audit.forbidden;
    forbidden.resize(std::min<std::size_t>(forbidden.size(), 3));
    const std::set<std::string> unlisted = accepted_.others(audit.unlisted);
    if (!forbidden.empty()) {
      result.replaced[name] = fmt::format("it uses what student code must not use: {}", fmt::join(forbidden, ", "));
    } else if (const std::string check = called_check(source.object); !check.empty()) {
      result.replaced[name] = fmt::format("it calls {}, which belongs to the checks", check);
    } else if (!unlisted.empty()) {
      result.replaced[name] =
          fmt::format("needs a look: it uses {}, which nobody has listed as harmless", fmt::join(unlisted, ", "));
      result.needs_look[name] = unlisted;
    } else {
      objects[name] = source.object;
      result.changed.insert(name);
    }
  }
}

void StudentBuilder::add_stubs(const std::set<std::string>& names, std::map<std::string, std::string>& objects) const {
  std::map<std::string, std::string> texts;
  for (const std::string& name : names) texts[name] = recipe_.find(name)->stub;
  for (const auto& [name, compiled] : store_.compile(recipe_, texts)) {
    if (compiled.object.empty())
      throw UsageError(fmt::format("the starter's {}/{} does not compile: {}", recipe_.lab, name, compiled.errors));
    objects[name] = compiled.object;
  }
}

void StudentBuilder::add_new_stubs(StudentBuild& result, std::map<std::string, std::string>& objects) const {
  std::set<std::string> stubs;
  for (const auto& [name, reason] : result.replaced) {
    if (result.stubs.insert(name).second) stubs.insert(name);
  }
  add_stubs(stubs, objects);
}

bool StudentBuilder::link_in_units(const Texts& texts, std::map<std::string, std::string> objects,
                                   StudentBuild& result) const {
  constexpr int kRounds = 4;
  FileUnits units(list_units(recipe_, texts));
  for (int round = 0; round < kRounds && !units.together.empty(); ++round) {
    std::vector<std::string> made;  // of units.together
    std::vector<std::set<std::string>> suspects;
    for (const Texts& unit : units.together) {
      const CompiledSource source = store_.compile_as_one(recipe_, unit);
      made.push_back(source.object);
      suspects.push_back(source.object.empty() ? named_in(source.errors, recipe_.lab, unit) : std::set<std::string>());
    }
    if (units.set_apart(made, suspects)) continue;
    const std::map<std::string, CompiledSource> apart = store_.compile(recipe_, units.apart);
    std::set<std::string> all(made.begin(), made.end());
    for (const auto& [name, source] : apart) {
      if (!source.object.empty()) all.insert(source.object);
    }
    const std::map<std::string, AuditedObject> found = audited(all);
    std::vector<std::string> clean = made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::vector<std::string> offences = find_offences(made[i], found);
      if (offences.empty()) continue;
      clean[i].clear();
      suspects[i] = find_users(offences, units.together[i]);
    }
    if (units.set_apart(clean, suspects)) continue;

    StudentBuild linked = result;
    add_compiled(apart, found, linked, objects);
    add_new_stubs(linked, objects);
    for (std::size_t i = 0; i < made.size(); ++i) {
      linked.changed.merge(list_names(units.together[i]));
      objects[units.together[i].begin()->first] = made[i];
    }
    for (const auto& [name, object] : objects) {
      const auto unit = std::find(made.begin(), made.end(), object);
      std::set<std::string> files = {name};
      if (unit != made.end()) files = list_names(units.together[static_cast<std::size_t>(unit - made.begin())]);
      linked.objects.push_back({files, object});
    }
    linked.folder = std::make_shared<launch::RunDirectory>();
    linked.program = linked.folder->path() + "/" + recipe_.lab;
    if (!link_objects(recipe_, objects, linked.program, sandbox_).empty()) return false;
    result = linked;
    return true;
  }
  return false;
}

StudentBuild StudentBuilder::build(const std::map<std::string, std::string>& texts,
                                   const std::set<std::string>& use_reference,
                                   const std::set<std::string>& use_stubs) const {
  StudentBuild result;
  std::map<std::string, std::string> objects, to_compile;
  std::set<std::string> stubs;
  for (const StudentSource& source : recipe_.sources) {
    const auto text = texts.find(source.name);
    const bool is_reference = text != texts.end() && text->second == source.reference;
    if (use_reference.count(source.name) != 0 || (is_reference && use_stubs.count(source.name) == 0)) {
      objects[source.name] = source.reference_object;
    } else if (use_stubs.count(source.name) != 0) {
      result.replaced[source.name] = "it was left out";
    } else if (text == texts.end()) {
      result.replaced[source.name] = "it was not handed in";
    } else if (text->second == source.stub) {
      stubs.insert(source.name);
    } else {
      to_compile.insert(*text);
    }
  }
  for (const auto& [name, reason] : result.replaced) stubs.insert(name);
  add_stubs(stubs, objects);
  result.stubs = stubs;
  if (link_in_units(to_compile, objects, result)) return result;

  const std::map<std::string, CompiledSource> compiled = store_.compile(recipe_, to_compile);
  std::set<std::string> all;
  for (const auto& [name, source] : compiled) {
    if (!source.object.empty()) all.insert(source.object);
  }
  add_compiled(compiled, audited(all), result, objects);
  add_new_stubs(result, objects);

  result.folder = std::make_shared<launch::RunDirectory>();
  const std::string program = result.folder->path() + "/" + recipe_.lab;
  // The linker names the objects that it cannot use.
  for (std::string errors = link_objects(recipe_, objects, program, sandbox_); !errors.empty();
       errors = link_objects(recipe_, objects, program, sandbox_)) {
    stubs.clear();
    for (const std::string& name : std::set<std::string>(result.changed)) {
      if (errors.find(objects[name]) == std::string::npos) continue;
      result.replaced[name] = "it cannot be linked:\n" + first_errors(errors);
      // It may need a file that somebody has to look at.
      if (!result.needs_look.empty()) {
        result.replaced[name] = "needs a look, as others do: without them " + result.replaced[name];
        result.needs_look[name] = {};
      }
      result.changed.erase(name);
      stubs.insert(name);
    }
    if (stubs.empty()) {
      result.not_linked = "it cannot be linked:\n" + first_errors(errors);
      return result;
    }
    add_stubs(stubs, objects);
    result.stubs.insert(stubs.begin(), stubs.end());
  }
  result.program = program;
  return result;
}

StudentBuild StudentBuilder::build_again(const StudentBuild& whole, const Texts& texts,
                                         const std::set<std::string>& use_reference) const {
  StudentBuild result = whole;
  result.folder = std::make_shared<launch::RunDirectory>();
  result.program = result.folder->path() + "/" + recipe_.lab;
  result.objects.clear();
  for (const std::string& name : use_reference) {
    result.replaced.erase(name);
    result.needs_look.erase(name);
    result.changed.erase(name);
    result.stubs.erase(name);
  }
  const auto objects = with_reference(recipe_, whole.objects, use_reference, result.folder->path(), sandbox_);
  if (objects && link_objects(recipe_, *objects, result.program, sandbox_).empty()) return result;
  return build(texts, use_reference);
}

}  // namespace lab::grading
