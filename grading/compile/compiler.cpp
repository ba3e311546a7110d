#include "grading/compile/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/compile/one_unit.h"

namespace lab::grading {
namespace {

/// GNU ld does not call these errors, as others do; the last line, of the compiler that called it, would be the first.
constexpr std::array<std::string_view, 3> kErrors = {"error", "undefined reference to", "multiple definition of"};

bool is_error(const std::string& line) {
  return std::any_of(kErrors.begin(), kErrors.end(),
                     [&](std::string_view words) { return line.find(words) != std::string::npos; });
}

}  // namespace

std::string first_errors(const std::string& output) {
  constexpr int kMostLines = 12;
  constexpr std::size_t kLongestLine = 300, kMostWithoutError = 1000;
  std::string kept;
  int count = 0;
  for (const std::string& line : list_lines(output)) {
    if (count == 0 && !is_error(line)) continue;
    if (count++ == kMostLines) break;
    kept.append(without_line_break(line).substr(0, kLongestLine)).append("\n");
  }
  return kept.empty() ? output.substr(0, kMostWithoutError) : kept;
}

namespace {

// A file takes two seconds of CPU time; one that takes a hundred was written to do so.
constexpr double kCompileSeconds = 60, kCompileSecondsPerFile = 20;

/// A word quoted for ninja and for the shell that it starts.
std::string quoted(const std::string& argument) {
  std::string result = "'";
  for (const char letter : argument) result += letter == '$' ? "$$" : std::string(1, letter);
  return result + "'";
}

/// The command that compiles `source`, a path in the tree that lay_out_tree() makes, which is also where headers are
/// found.
std::string compile_command(const BuildRecipe& recipe, const StudentSource& like, const std::string& source,
                            const std::string& object) {
  std::string command;
  for (const std::string& argument : like.compile) {
    const std::string path = argument == kSourcePlace         ? source
                             : argument == kObjectPlace       ? object
                             : argument == "-I" + recipe.root ? "-I."
                                                              : argument;
    command += quoted(path) + " ";
  }
  return command;
}

/// One of ninja's build statements. What the compiler reads is listed next to the object, and so are its errors.
std::string build_statement(const std::string& object, const std::string& command) {
  return fmt::format("build {0}.o: compile\n  what = {1} -MD -MF {0}.read 2> {0}.errors\n", object, command);
}

constexpr char kNinjaRule[] = "rule compile\n  command = $what\n";

std::string ninja_file(const BuildRecipe& recipe, const std::vector<std::string>& names) {
  std::string text = kNinjaRule;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string object = std::to_string(i);
    text += build_statement(
        object, compile_command(recipe, *recipe.find(names[i]), recipe.lab + "/" + names[i], object + ".o"));
  }
  return text;
}

// A unit that includes a file and then this line fails here if the file is valid, and before if not. The compiler stops
// at the first error, so what takes its time, at the end of each unit, is left out.
constexpr char kEndOfFile[] = "the end of a file that is valid alone";
constexpr char kAlone[] = ".alone.cpp";

/// Statements for the unit of all files and, for each file in `names`, one that shows whether it is valid alone.
std::string ninja_file_of_unit(const BuildRecipe& recipe, const std::vector<std::string>& names) {
  const StudentSource& like = recipe.sources.front();
  std::string text = kNinjaRule + build_statement("unit", compile_command(recipe, like, "unit.cpp", "unit.o"));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string object = std::to_string(i);
    text += build_statement(
        object, compile_command(recipe, *recipe.find(names[i]), recipe.lab + "/" + names[i] + kAlone, object + ".o") +
                    "-fsyntax-only -Wfatal-errors");
  }
  return text;
}

/// What a submission must not include: solutions, expected results, what compares them, and the way into a rank.
std::vector<std::string> list_secrets(const std::string& lab) {
  std::vector<std::string> secrets = {"common/checks", "common/rank", "common/comm/messages/get_endpoint.h"};
  for (const char* name : {"student", "answers", "tests", "calls", "cases", "commands", "checkpoint", "pictures"})
    secrets.push_back(lab + "/" + name);
  return secrets;
}

/// A tree around the sources that looks like the suite's, so that an include by a relative path means the same file as
/// where it was written: "../broadcast.h", "../../common/api/point_to_point.h".
void lay_out_tree(const BuildRecipe& recipe, const std::string& folder) {
  namespace fs = std::filesystem;
  const std::vector<std::string> secret = list_secrets(recipe.lab);
  for (const std::string& part : {std::string("common"), recipe.lab}) {
    fs::create_directory(folder + "/" + part);
    for (const auto& entry : fs::directory_iterator(recipe.root + "/" + part)) {
      const std::string path = part + "/" + entry.path().filename().string();
      if (std::find(secret.begin(), secret.end(), path) == secret.end())
        fs::create_symlink(entry.path(), folder + "/" + path);
    }
  }
}

void write_source(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

SandboxJob compile_job(const BuildRecipe& recipe, const std::string& folder, std::size_t num_files) {
  SandboxJob job;
  job.argv = {"ninja", "--quiet", "-k", "0", "-j", "2"};
  job.folder = folder;
  job.readable = {recipe.root + "/common", recipe.root + "/" + recipe.lab, recipe.folder + "/CMakeFiles"};
  for (const std::string& secret : list_secrets(recipe.lab)) {
    const std::string path = recipe.root + "/" + secret;
    if (std::filesystem::exists(path)) job.hidden.push_back(path);
  }
  job.limits.memory_bytes = 3ull << 30;  // enough to compile LibTorch's headers
  job.limits.cpu_seconds = kCompileSeconds;
  job.limits.run_seconds = kCompileSeconds + kCompileSecondsPerFile * static_cast<double>(num_files);
  return job;
}

/// The first secret among the files that the compiler has read, from the suite's root; empty: none. Where nothing hides
/// them, this is what keeps them from a submission.
std::string secret_read(const BuildRecipe& recipe, const std::string& folder, const std::string& list) {
  std::ifstream file(list);
  for (std::string path; file >> path;) {
    std::error_code gone;
    const std::string found = std::filesystem::canonical(std::filesystem::path(folder) / path, gone).string();
    if (gone || found.rfind(recipe.root + "/", 0) != 0) continue;
    const std::string inside = found.substr(recipe.root.size() + 1);
    for (const std::string& secret : list_secrets(recipe.lab))
      if ((inside + "/").rfind(secret + "/", 0) == 0) return inside;
  }
  return "";
}

/// Whether the compiler's errors are about the machine: g++ and clang++ say "Killed" if the kernel killed the compiler
/// for lack of memory. For used-up CPU time, which is the file's fault, the message differs.
bool is_machines_fault(const std::string& errors) {
  return errors.find("Killed signal terminated program") != std::string::npos ||
         errors.find("unable to execute command: Killed") != std::string::npos ||
         errors.find("No space left on device") != std::string::npos;
}

/// What the compiler has left of one unit, by the name of its object.
CompiledUnit left_by_compiler(const BuildRecipe& recipe, const std::string& folder, const std::string& name) {
  const auto left = [&](const char* ending) { return fmt::format("{}/{}.{}", folder, name, ending); };
  CompiledUnit made;
  auto& [object, errors] = made.source;
  if (std::filesystem::exists(left("errors"))) errors = read_file(left("errors"));
  if (is_machines_fault(errors)) return made;
  if (std::filesystem::exists(left("o"))) object = left("o");
  const std::string secret = secret_read(recipe, folder, left("read"));
  if (secret.empty()) return made;
  errors = fmt::format("error: {}: No such file for a submission\n", secret);
  object.clear();
  return made;
}

/// The texts as files in a new folder that looks like the suite's tree.
struct SourceTree {
  launch::RunDirectory folder;

  SourceTree(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts) {
    lay_out_tree(recipe, folder.path());
    for (const auto& [name, text] : texts) write_source(folder.path() + "/" + recipe.lab + "/" + name, text);
  }
};

/// As texts -> files of the unit, with what the reference has in their place.
std::map<std::string, UnitFile> unit_files(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts) {
  std::map<std::string, UnitFile> files;
  for (const auto& [name, text] : texts) files[recipe.lab + "/" + name] = {text, recipe.find(name)->reference};
  return files;
}

}  // namespace

std::string compile_each(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts,
                         const Sandbox& sandbox, const std::function<void(const CompiledUnit&)>& take) {
  const SourceTree tree(recipe, texts);
  std::vector<std::string> names;
  for (const auto& [name, text] : texts) names.push_back(name);
  write_source(tree.folder.path() + "/build.ninja", ninja_file(recipe, names));
  const SandboxResult result = sandbox.run_or_give_up(compile_job(recipe, tree.folder.path(), names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    CompiledUnit made = left_by_compiler(recipe, tree.folder.path(), std::to_string(i));
    made.name = names[i];
    if (is_machines_fault(made.source.errors)) return made.source.errors;
    if (made.source.object.empty() && made.source.errors.empty()) {
      made.source.errors = fmt::format("the compiler {}", result.ending());
      made.is_final = false;
    }
    take(made);
  }
  return "";
}

std::vector<std::map<std::string, std::string>> list_units(const BuildRecipe& recipe,
                                                           const std::map<std::string, std::string>& texts) {
  const auto header = [&](const std::string& path) -> std::optional<std::string> {
    const std::string file = recipe.root + "/" + path;
    if (!std::filesystem::is_regular_file(file)) return std::nullopt;
    return read_file(file);
  };
  std::vector<std::map<std::string, std::string>> units;
  for (const std::set<std::string>& paths : list_units(unit_files(recipe, texts), header, "common/pch/student.h")) {
    units.emplace_back();
    for (const std::string& path : paths) units.back().insert(*texts.find(path.substr(recipe.lab.size() + 1)));
  }
  return units;
}

std::string compile_unit(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts,
                         const Sandbox& sandbox, const std::function<void(const CompiledUnit&)>& take) {
  const SourceTree tree(recipe, texts);
  const std::string& folder = tree.folder.path();
  std::vector<std::string> tried_alone;
  const std::set<std::string> in_doubt = may_need_headers_of_others(unit_files(recipe, texts), recipe.precompiled);
  std::string unit;
  for (const auto& [name, text] : texts) {
    const std::string path = recipe.lab + "/" + name;
    unit += fmt::format("#include \"{}\"\n", path);
    if (in_doubt.count(path) == 0) continue;
    tried_alone.push_back(name);
    write_source(folder + "/" + path + kAlone,
                 fmt::format("#include \"{}\"\nstatic_assert(false, \"{}\");\n",
                             std::filesystem::path(name).filename().string(), kEndOfFile));
  }
  write_source(folder + "/unit.cpp", unit);
  write_source(folder + "/build.ninja", ninja_file_of_unit(recipe, tried_alone));
  sandbox.run_or_give_up(compile_job(recipe, folder, texts.size()));
  CompiledUnit made = left_by_compiler(recipe, folder, "unit");
  if (is_machines_fault(made.source.errors)) return made.source.errors;
  for (std::size_t i = 0; i < tried_alone.size(); ++i) {
    const CompiledSource alone = left_by_compiler(recipe, folder, std::to_string(i)).source;
    if (is_machines_fault(alone.errors)) return alone.errors;
    if (alone.errors.find(kEndOfFile) != std::string::npos) continue;
    made.source.object.clear();
    made.source.errors += alone.errors;
  }
  take(made);
  return "";
}

}  // namespace lab::grading
