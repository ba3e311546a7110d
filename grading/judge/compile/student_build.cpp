#include "grading/judge/compile/student_build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "grading/judge/compile/link_objects.h"

namespace lab::grading {
namespace {

/// The first lines of a compiler's output from the first error on.
std::string first_errors(const std::string& output) {
  std::string kept;
  int count = 0;
  bool seen = false;
  for (const std::string& line : lines_of(output)) {
    seen = seen || line.find("error") != std::string::npos;
    if (!seen) continue;
    if (count++ == 12) break;
    kept.append(without_line_break(line).substr(0, 300)).append("\n");
  }
  return kept.empty() ? output.substr(0, 1000) : kept;
}

}  // namespace

StudentBuilder::StudentBuilder(BuildRecipe recipe, const ObjectStore& store, const Sandbox& sandbox,
                               AcceptedSymbols accepted)
    : recipe_(std::move(recipe)), store_(store), sandbox_(sandbox), accepted_(std::move(accepted)) {}

const std::set<std::string>& StudentBuilder::symbols_of_checks() const {
  if (!checks_.empty()) return checks_;
  const launch::RunDirectory work;
  std::vector<std::string> argv = {"nm", "--defined-only", "--extern-only", "--no-sort"};
  argv.insert(argv.end(), recipe_.own_libraries.begin(), recipe_.own_libraries.end());
  SandboxJob job = tool_job(work.path(), argv);
  job.readable = recipe_.own_libraries;
  const SandboxResult result = sandbox_.run_or_give_up(job);
  if (result.exit_code != 0) throw UsageError(fmt::format("nm {}: {}", result.ending(), result.err));
  for (const std::string& line : lines_of(result.out)) {
    std::istringstream fields(line);
    std::string address, kind, symbol;
    // Weak symbols, such as inline functions, are in every object that uses them, and do not count.
    if (fields >> address >> kind >> symbol && (kind == "T" || kind == "D" || kind == "B" || kind == "R"))
      checks_.insert(symbol);
  }
  return checks_;
}

std::map<std::string, AuditedObject> StudentBuilder::audited(const std::set<std::string>& objects) const {
  if (objects.empty()) return {};
  const launch::RunDirectory work;
  const std::string rules = recipe_.root + "/common/course/audit";
  SandboxJob job = tool_job(work.path(), {"bash", rules + "/student_symbols.sh", "--may-end"});
  job.argv.insert(job.argv.end(), objects.begin(), objects.end());
  job.readable = {rules};
  job.readable.insert(job.readable.end(), objects.begin(), objects.end());
  const SandboxResult audit = sandbox_.run_or_give_up(job);
  constexpr int kClean = 0, kForbidden = 1, kUnlisted = 3;
  if (audit.exit_code == kClean || audit.exit_code == kForbidden || audit.exit_code == kUnlisted)
    return parse_symbol_audit(audit.out, objects);
  // One object is too much for it: the others must not suffer.
  std::map<std::string, AuditedObject> found;
  if (objects.size() == 1) {
    found[*objects.begin()].forbidden = {fmt::format("something that cannot be audited: the audit {}", audit.ending())};
    return found;
  }
  for (const std::string& object : objects) found.merge(audited({object}));
  return found;
}

std::string StudentBuilder::called_check(const std::string& object) const {
  const launch::RunDirectory work;
  SandboxJob job = tool_job(work.path(), {"nm", "-u", object});
  job.readable = {object};
  const SandboxResult undefined = sandbox_.run_or_give_up(job);
  std::istringstream lines(undefined.out);
  std::string kind, symbol;
  while (lines >> kind >> symbol) {
    if (symbols_of_checks().count(symbol) == 0) continue;
    job.argv = {"c++filt", symbol};
    std::string name = sandbox_.run_or_give_up(job).out;
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return name;
  }
  return "";
}

void StudentBuilder::add_compiled(const std::map<std::string, CompiledSource>& compiled, StudentBuild& result,
                                  std::map<std::string, std::string>& objects) const {
  std::set<std::string> all;
  for (const auto& [name, source] : compiled) {
    if (!source.object.empty()) all.insert(source.object);
  }
  std::map<std::string, AuditedObject> found = audited(all);
  for (const auto& [name, source] : compiled) {
    if (source.object.empty()) {
      result.replaced[name] = "it does not compile:\n" + first_errors(source.errors);
      continue;
    }
    std::vector<std::string> forbidden = found[source.object].forbidden;
    forbidden.resize(std::min<std::size_t>(forbidden.size(), 3));
    const std::set<std::string> unlisted = accepted_.others(found[source.object].unlisted);
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

bool StudentBuilder::link_as_one(const std::map<std::string, std::string>& texts,
                                 std::map<std::string, std::string> objects, StudentBuild& result) const {
  if (texts.size() < 2) return false;
  const std::optional<std::string> unit = store_.compile_as_one(recipe_, texts);
  if (!unit) return false;
  const std::map<std::string, AuditedObject> found = audited({*unit});
  if (const auto in_unit = found.find(*unit); in_unit != found.end()) {
    if (!in_unit->second.forbidden.empty() || !accepted_.others(in_unit->second.unlisted).empty()) return false;
  }
  if (!called_check(*unit).empty()) return false;
  objects["student"] = *unit;
  const auto folder = std::make_shared<launch::RunDirectory>();
  const std::string program = folder->path() + "/" + recipe_.lab;
  if (!link_objects(recipe_, objects, program, sandbox_).empty()) return false;
  for (const auto& [name, text] : texts) result.changed.insert(name);
  result.folder = folder;
  result.program = program;
  return true;
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
  if (link_as_one(to_compile, objects, result)) return result;

  add_compiled(store_.compile(recipe_, to_compile), result, objects);
  stubs.clear();
  for (const auto& [name, reason] : result.replaced) {
    if (result.stubs.insert(name).second) stubs.insert(name);
  }
  add_stubs(stubs, objects);

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
    if (stubs.empty()) return result;  // no file can be blamed
    add_stubs(stubs, objects);
    result.stubs.insert(stubs.begin(), stubs.end());
  }
  result.program = program;
  return result;
}

}  // namespace lab::grading
