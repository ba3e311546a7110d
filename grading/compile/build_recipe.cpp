#include "grading/compile/build_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/course/starter/markers.h"

namespace lab::grading {
namespace {

[[noreturn]] void refuse(const std::string& folder, const std::string& what) {
  throw UsageError(fmt::format("{}: {}; hint: ./lab build release makes it", folder, what));
}

/// What ninja tells about a target.
std::string ask_ninja(const std::string& build_folder, const std::string& tool, const std::string& target) {
  ProcessSpec ninja;
  ninja.argv = {"ninja", "-C", build_folder, "-t", tool, target};
  const ProgramEnd end = run_program(ninja);
  if (!end.well()) refuse(build_folder, "ninja " + end.message());
  return end.out;
}

/// The last command that ninja would run for the target: for a program, how it is linked.
std::string last_command(const std::string& build_folder, const std::string& target) {
  std::string text = ask_ninja(build_folder, "commands", target);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// What these archives and objects define, and no other may define as well.
std::set<std::string> list_symbols(const std::string& build_folder, const std::vector<std::string>& libraries) {
  ProcessSpec nm;
  nm.argv = {"nm", "--defined-only", "--extern-only", "--no-sort"};
  nm.argv.insert(nm.argv.end(), libraries.begin(), libraries.end());
  const ProgramEnd end = run_program(nm);
  if (!end.well()) refuse(build_folder, "nm " + end.message());
  std::set<std::string> symbols;
  for (const std::string& line : list_lines(end.out)) {
    std::istringstream fields(line);
    std::string address, kind, symbol;
    // Weak symbols, such as inline functions, are in every object that uses them, and do not count.
    if (fields >> address >> kind >> symbol && (kind == "T" || kind == "D" || kind == "B" || kind == "R"))
      symbols.insert(symbol);
  }
  return symbols;
}

void add_link_command(BuildRecipe& recipe, const std::string& program) {
  const std::string command = last_command(recipe.folder, program);
  std::vector<std::string> arguments = split_command(command).value_or(std::vector<std::string>());
  // ": && c++ ... && :" is how CMake wraps a command with nothing before or after it.
  if (arguments.size() < 6 || arguments[0] != ":" || arguments[1] != "&&")
    refuse(recipe.folder, "no link command of " + recipe.lab);
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  arguments.erase(arguments.end() - 2, arguments.end());
  // What is made of students' files needs their library a second time; their objects are linked whole, once.
  const auto is_students = [](const std::string& argument) { return ends_with(argument, "_student.a"); };
  const auto first = std::find_if(arguments.begin(), arguments.end(), is_students);
  if (first != arguments.end())
    arguments.erase(std::remove_if(first + 1, arguments.end(), is_students), arguments.end());
  bool student_seen = false;
  std::vector<std::string> libraries;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (is_students(argument)) {
      argument = kObjectsPlace;
      student_seen = true;
    } else if (i > 0 && arguments[i - 1] == "-o") {
      argument = kProgramPlace;
    } else if ((ends_with(argument, ".a") || ends_with(argument, ".o")) &&
               (!student_seen || argument.find("common/rank/") == 0)) {
      libraries.push_back(recipe.folder + "/" + argument);
    }
  }
  if (!student_seen) refuse(recipe.folder, fmt::format("{} is linked without a library of student files", recipe.lab));
  recipe.link = arguments;
  recipe.of_checks = list_symbols(recipe.folder, libraries);
}

/// What the precompiled header of a command was made from.
std::set<std::string> precompiled_by(const std::string& build_folder, const std::vector<std::string>& command) {
  const std::string header = find_precompiled_header(command), prefix = build_folder + "/";
  if (header.rfind(prefix, 0) != 0) return {};
  std::set<std::string> files;
  for (const std::string& line : list_lines(ask_ninja(build_folder, "deps", header.substr(prefix.size()))))
    if (line.rfind("    ", 0) == 0) files.emplace(without_line_break(line).substr(4));
  return files;
}

}  // namespace

std::string find_precompiled_header(const std::vector<std::string>& command) {
  const std::string name = "/cmake_pch.hxx";
  std::string by_gcc;
  for (const std::string& argument : command) {
    if (ends_with(argument, name + ".pch")) return argument;
    if (ends_with(argument, name)) by_gcc = argument + ".gch";
  }
  return by_gcc;
}

const StudentSource* BuildRecipe::find(const std::string& name) const {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const StudentSource& source) { return source.name == name; });
  return found == sources.end() ? nullptr : &*found;
}

BuildRecipe load_build_recipe(const std::string& root, const std::string& build_folder, const std::string& lab,
                              const std::string& program_folder) {
  BuildRecipe recipe;
  recipe.lab = lab;
  recipe.root = std::filesystem::canonical(root).string();
  const std::string program = program_folder + lab;
  if (!std::filesystem::exists(build_folder + "/" + program)) refuse(build_folder, program + " is missing");
  recipe.folder = std::filesystem::canonical(build_folder).string();
  const std::string prefix = recipe.root + "/" + lab + "/";
  const auto commands = nlohmann::json::parse(read_file(recipe.folder + "/compile_commands.json"), nullptr, false);
  if (!commands.is_array()) refuse(recipe.folder, "compile_commands.json is not a list");
  for (const auto& entry : commands) {
    const std::string file = entry.value("file", "");
    if (file.compare(0, prefix.size() + 8, prefix + "student/") != 0) continue;
    StudentSource source;
    source.name = file.substr(prefix.size());
    source.reference = read_file(file);
    source.stub = join_starter(parse_solution_markers(source.reference));
    source.compile = split_command(entry.value("command", "")).value_or(std::vector<std::string>());
    for (std::size_t i = 1; i < source.compile.size(); ++i) {
      std::string& argument = source.compile[i];
      if (source.compile[i - 1] == "-o") {
        source.reference_object = recipe.folder + "/" + argument;
        argument = kObjectPlace;
      } else if (argument == file) {
        argument = kSourcePlace;
      }
    }
    // As ninja decides it. The object of a file's last version would be taken for that of the reference.
    std::error_code none;
    const auto made = std::filesystem::last_write_time(source.reference_object, none);
    if (none || std::filesystem::last_write_time(file) > made)
      refuse(recipe.folder, fmt::format("{}/{} has changed since it was compiled", lab, source.name));
    // Skip a wrapper around the compiler, such as ccache.
    if (source.compile.size() > 1 && source.compile[1][0] == '/') source.compile.erase(source.compile.begin());
    recipe.sources.push_back(std::move(source));
  }
  if (recipe.sources.empty()) refuse(recipe.folder, fmt::format("no student file of {} in compile_commands.json", lab));
  std::sort(recipe.sources.begin(), recipe.sources.end(),
            [](const StudentSource& left, const StudentSource& right) { return left.name < right.name; });
  add_link_command(recipe, program);
  recipe.precompiled = precompiled_by(recipe.folder, recipe.sources.front().compile);
  return recipe;
}

std::vector<std::string> foreign_folders(const std::string& build_folder) {
  std::vector<std::string> folders = {build_folder + "/_deps", build_folder + "/releases",
                                      build_folder + "/unused_libraries"};
  std::ifstream cache(build_folder + "/CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    for (const char* name : {"LAB_LIBTORCH:", "LAB_PREFIX:", "FETCHCONTENT_SOURCE_DIR_"}) {
      const std::size_t value = line.find('=');
      if (line.rfind(name, 0) == 0 && value + 1 < line.size()) folders.push_back(line.substr(value + 1));
    }
  }
  return folders;
}

}  // namespace lab::grading
