#include "grading/compile/replace_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "common/base/text.h"
#include "grading/compile/link_objects.h"

namespace lab::grading {
namespace {

using Names = std::set<std::string>;

Names common_to(const Names& left, const Names& right) {
  Names common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::inserter(common, common.end()));
  return common;
}

/// What a tool prints about objects; nothing if it failed.
std::optional<std::string> printed_by(std::vector<std::string> argv, const Names& objects, const std::string& folder,
                                      const Sandbox& sandbox) {
  SandboxJob job = tool_job(folder, std::move(argv));
  job.argv.insert(job.argv.end(), objects.begin(), objects.end());
  job.readable.insert(job.readable.end(), objects.begin(), objects.end());
  const SandboxResult result = sandbox.run_or_give_up(job);
  if (result.exit_code != 0) return std::nullopt;
  return result.out;
}

/// The symbols that each object defines and of which there must be only one in a program.
std::map<std::string, Names> strong_symbols(const std::string& nm, const Names& objects) {
  constexpr std::string_view kWeak = "VWuvw";
  std::map<std::string, Names> found;
  for (const std::string& line : list_lines(nm)) {
    for (const std::string& object : objects) {
      // "OBJECT:0000000000000012 T NAME"
      if (line.compare(0, object.size() + 1, object + ":") != 0) continue;
      const std::vector<std::string_view> fields = split(std::string_view(line).substr(object.size() + 1), ' ');
      if (fields.size() > 2 && kWeak.find(fields[1]) == std::string_view::npos)
        found[object].emplace(
            without_line_break(line).substr(static_cast<std::size_t>(fields[2].data() - line.data())));
    }
  }
  return found;
}

/// A copy of the unit in which what the reference defines in some of its files is weak.
std::optional<std::string> weakened(const BuildRecipe& recipe, const BuiltObject& unit, const Names& reference,
                                    const std::string& copy, const Sandbox& sandbox) {
  const std::string folder = std::filesystem::path(copy).parent_path().string();
  Names replaced, all = {unit.path};
  for (const std::string& file : unit.files) {
    const std::string& object = recipe.find(file)->reference_object;
    all.insert(object);
    if (reference.count(file) != 0) replaced.insert(object);
  }
  const auto nm = printed_by({"nm", "-A", "--defined-only", "--extern-only"}, all, folder, sandbox);
  const auto sections = printed_by({"readelf", "-SW"}, {unit.path}, folder, sandbox);
  if (!nm || !sections) return std::nullopt;
  if (sections->find("_ARRAY ") != std::string::npos) return std::nullopt;  // of functions before and after main()
  Names to_weaken, known;
  const std::map<std::string, Names> strong = strong_symbols(*nm, all);
  for (const auto& [object, symbols] : strong) {
    if (object != unit.path) known.insert(symbols.begin(), symbols.end());
    if (replaced.count(object) != 0) to_weaken.insert(symbols.begin(), symbols.end());
  }
  const auto own = strong.find(unit.path);
  if (own != strong.end() && !std::includes(known.begin(), known.end(), own->second.begin(), own->second.end()))
    return std::nullopt;

  const std::string names = copy + ".weak";
  std::ofstream(names) << fmt::format("{}\n", fmt::join(to_weaken, "\n"));
  SandboxJob job = tool_job(folder, {"objcopy", "--weaken-symbols=" + names, unit.path, copy});
  job.readable = {unit.path};
  if (sandbox.run_or_give_up(job).exit_code != 0) return std::nullopt;
  return copy;
}

/// Whether callers know no more of a function than its declaration.
bool is_compiled_to_be_replaced(const BuildRecipe& recipe) {
  return std::all_of(recipe.sources.begin(), recipe.sources.end(), [](const StudentSource& source) {
    const auto& options = source.compile;
    return std::find(options.begin(), options.end(), "-fsemantic-interposition") != options.end();
  });
}

}  // namespace

std::optional<std::map<std::string, std::string>> with_reference(const BuildRecipe& recipe,
                                                                 const std::vector<BuiltObject>& objects,
                                                                 const Names& reference, const std::string& folder,
                                                                 const Sandbox& sandbox) {
  if (objects.empty() || !is_compiled_to_be_replaced(recipe)) return std::nullopt;
  std::map<std::string, std::string> linked;
  for (const std::string& file : reference) linked[file] = recipe.find(file)->reference_object;
  for (const BuiltObject& object : objects) {
    const std::size_t num_replaced = common_to(object.files, reference).size();
    if (num_replaced == object.files.size()) continue;
    const std::string name = fmt::format("{} and others", *object.files.begin());
    if (num_replaced == 0) {
      linked[name] = object.path;
    } else if (const auto copy =
                   weakened(recipe, object, reference, fmt::format("{}/{}.o", folder, linked.size()), sandbox)) {
      linked[name] = *copy;
    } else {
      return std::nullopt;
    }
  }
  return linked;
}

}  // namespace lab::grading
