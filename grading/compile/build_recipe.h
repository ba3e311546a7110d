#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lab::grading {

/// One of a lab's student files, as the suite's own build treats it.
struct StudentSource {
  std::string name;                  ///< "student/broadcast/flat.cpp"
  std::string reference;             ///< its text, with markers
  std::string stub;                  ///< its text in a starter
  std::vector<std::string> compile;  ///< the command, with kSourcePlace and kObjectPlace instead of the two paths
  std::string reference_object;      ///< built by the suite itself
};

constexpr char kSourcePlace[] = "@SOURCE@";
constexpr char kObjectPlace[] = "@OBJECT@";
constexpr char kObjectsPlace[] = "@OBJECTS@";
constexpr char kProgramPlace[] = "@PROGRAM@";

/// How a lab's program, such as that of one judged rank, is built from student files and from what the suite has
/// compiled already. Taken from the build folder itself, so that a submission is compiled with the same flags, headers
/// and libraries as the reference.
struct BuildRecipe {
  std::string lab;     ///< "a9_collectives"
  std::string root;    ///< the source tree
  std::string folder;  ///< the build folder, to which the link command's paths are relative
  std::vector<StudentSource> sources;
  std::vector<std::string> link;      ///< with kObjectsPlace for the students' library, and kProgramPlace
  std::set<std::string> of_checks;    ///< symbols of what calls student code, which must not call them
  std::set<std::string> precompiled;  ///< all headers in that of the student files; none: unknown

  const StudentSource* find(const std::string& name) const;
};

/// The file of the precompiled header that a compiler's command names; empty: none.
/// Example   g++ -include /b/cmake_pch.hxx ...: "/b/cmake_pch.hxx.gch";  of clang: "/b/cmake_pch.hxx.pch"
std::string find_precompiled_header(const std::vector<std::string>& command);

/// Folders outside the system's own from which a build folder takes headers and libraries of others: prefixes, releases
/// that it compiles itself, and empty libraries in the place of unused ones.
std::vector<std::string> foreign_folders(const std::string& build_folder);

/// Where a build folder has the programs that are one judged rank of a lab, and where the labs' own.
constexpr char kRankFolder[] = "ranks/";
constexpr char kProgramFolder[] = "bin/";

/// Reads compile_commands.json and asks ninja for the link command of the lab's program in a folder of the build.
/// Errors    UsageError: the folder does not hold a finished ninja build of the lab, or a student file is newer than its
///           object in it
BuildRecipe load_build_recipe(const std::string& root, const std::string& build_folder, const std::string& lab,
                              const std::string& program_folder = kRankFolder);

}  // namespace lab::grading
