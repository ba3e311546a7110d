#include "grading/judge/compile/object_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/base/checksum.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/judge/compile/one_unit.h"
#include "grading/judge/sandbox/sandbox.h"

namespace lab::grading {
namespace {

// A file takes two seconds of CPU time; one that takes a hundred was written to do so.
constexpr double kCompileSeconds = 60, kCompileSecondsPerFile = 20;

/// The whole key is stored next to the object, so that two texts with the same hash are told apart.
std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", checksum_of(text));
}

/// Everything but its own text that a student file's object depends on: the headers' text, and the modification time of
/// the precompiled header, which is too large to be read each time.
std::string surroundings_of(const BuildRecipe& recipe) {
  std::set<std::string> stamps;
  for (const std::string& part : {recipe.root + "/common", recipe.root + "/" + recipe.lab}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(part)) {
      if (entry.path().extension() == ".h")
        stamps.insert(entry.path().string() + " " + hash_of(read_file(entry.path().string())));
    }
  }
  for (const StudentSource& source : recipe.sources) {
    for (const std::string& argument : source.compile) {
      if (std::filesystem::path(argument).filename() != "cmake_pch.hxx" || !std::filesystem::exists(argument + ".gch"))
        continue;
      const auto made = std::filesystem::last_write_time(argument + ".gch").time_since_epoch().count();
      stamps.insert(fmt::format("{} {}", argument, made));
    }
  }
  return hash_of(fmt::format("{}", fmt::join(stamps, "\n")));
}

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
std::vector<std::string> secrets_of(const std::string& lab) {
  std::vector<std::string> secrets = {"common/checks", "common/rank", "common/comm/messages/endpoint_of.h"};
  for (const char* name : {"student", "answers", "tests", "calls", "cases", "commands", "checkpoint", "pictures"})
    secrets.push_back(lab + "/" + name);
  return secrets;
}

/// A tree around the sources that looks like the suite's, so that an include by a relative path means the same file as
/// where it was written: "../broadcast.h", "../../common/comm/point_to_point.h".
void lay_out_tree(const BuildRecipe& recipe, const std::string& folder) {
  namespace fs = std::filesystem;
  const std::vector<std::string> secret = secrets_of(recipe.lab);
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
  for (const std::string& secret : secrets_of(recipe.lab)) {
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
    for (const std::string& secret : secrets_of(recipe.lab))
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
struct Compiled {
  std::string object;  ///< path; empty: none
  std::string errors;

  Compiled(const BuildRecipe& recipe, const std::string& folder, const std::string& name) {
    const auto left = [&](const char* ending) { return fmt::format("{}/{}.{}", folder, name, ending); };
    if (std::filesystem::exists(left("errors"))) errors = read_file(left("errors"));
    if (is_machines_fault(errors)) return;
    if (std::filesystem::exists(left("o"))) object = left("o");
    const std::string secret = secret_read(recipe, folder, left("read"));
    if (secret.empty()) return;
    errors = fmt::format("error: {}: No such file for a submission\n", secret);
    object.clear();
  }
};

/// The texts as files in a new folder that looks like the suite's tree.
struct SourceTree {
  launch::RunDirectory folder;

  SourceTree(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts) {
    lay_out_tree(recipe, folder.path());
    for (const auto& [name, text] : texts) write_source(folder.path() + "/" + recipe.lab + "/" + name, text);
  }
};

/// Keeps what was made under the entry's name.
void keep(const StoreEntry& entry, const Compiled& made) {
  if (made.object.empty()) {
    std::filesystem::remove(entry.base + ".o");  // of another text with the same hash
  } else {
    write_file_atomically(entry.base + ".o", read_file(made.object));
  }
  write_file_atomically(entry.base + ".errors", made.errors);
  write_file_atomically(entry.base + ".key", entry.key);
}

/// Compiles the files in a new folder, and stores the result of each.
struct Compilation {
  const BuildRecipe& recipe;
  const std::map<std::string, std::string>& texts;
  const std::map<std::string, StoreEntry>& entries;

  /// Returns the errors of a compiler that the machine kept from working; empty if there was none.
  std::string run(const Sandbox& sandbox, std::map<std::string, CompiledSource>& compiled) const {
    const SourceTree tree(recipe, texts);
    std::vector<std::string> names;
    for (const auto& [name, text] : texts) names.push_back(name);
    write_source(tree.folder.path() + "/build.ninja", ninja_file(recipe, names));
    const SandboxResult result = sandbox.run_or_give_up(compile_job(recipe, tree.folder.path(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Compiled made(recipe, tree.folder.path(), std::to_string(i));
      if (is_machines_fault(made.errors)) return made.errors;
      if (made.object.empty() && made.errors.empty()) {
        // Not stored: another time, the other files may leave it more time.
        compiled[names[i]].errors = fmt::format("the compiler {}", result.ending());
      } else {
        keep(entries.at(names[i]), made);
      }
    }
    return "";
  }
};

/// As texts -> files of the unit, with what the reference has in their place.
std::map<std::string, UnitFile> unit_files(const BuildRecipe& recipe, const std::map<std::string, std::string>& texts) {
  std::map<std::string, UnitFile> files;
  for (const auto& [name, text] : texts) files[recipe.lab + "/" + name] = {text, recipe.find(name)->reference};
  return files;
}

/// Compiles the files as one unit, and stores the result, also that they cannot be one.
struct UnitCompilation {
  const BuildRecipe& recipe;
  const std::map<std::string, std::string>& texts;
  const StoreEntry& entry;

  /// Returns as Compilation::run().
  std::string run(const Sandbox& sandbox) const {
    const SourceTree tree(recipe, texts);
    const std::string& folder = tree.folder.path();
    std::vector<std::string> tried_alone;
    const bool are_valid_alone = need_no_headers_of_others(unit_files(recipe, texts), recipe.precompiled);
    std::string unit;
    for (const auto& [name, text] : texts) {
      const std::string path = recipe.lab + "/" + name;
      unit += fmt::format("#include \"{}\"\n", path);
      if (are_valid_alone) continue;
      tried_alone.push_back(name);
      write_source(folder + "/" + path + kAlone,
                   fmt::format("#include \"{}\"\nstatic_assert(false, \"{}\");\n",
                               std::filesystem::path(name).filename().string(), kEndOfFile));
    }
    write_source(folder + "/unit.cpp", unit);
    write_source(folder + "/build.ninja", ninja_file_of_unit(recipe, tried_alone));
    sandbox.run_or_give_up(compile_job(recipe, folder, texts.size()));
    Compiled made(recipe, folder, "unit");
    if (is_machines_fault(made.errors)) return made.errors;
    for (std::size_t i = 0; i < tried_alone.size(); ++i) {
      const Compiled alone(recipe, folder, std::to_string(i));
      if (is_machines_fault(alone.errors)) return alone.errors;
      if (alone.errors.find(kEndOfFile) == std::string::npos) made.object.clear();
    }
    keep(entry, made);
    return "";
  }
};

}  // namespace

bool StoreEntry::exists() const {
  return std::filesystem::exists(base + ".key") && std::filesystem::exists(base + ".errors") &&
         read_file(base + ".key") == key;
}

CompiledSource StoreEntry::load() const {
  if (std::filesystem::exists(base + ".o")) return {base + ".o", ""};
  return {"", read_file(base + ".errors")};
}

ObjectStore::ObjectStore(const std::string& folder, const Sandbox& sandbox) : folder_(folder), sandbox_(sandbox) {
  make_folder("the store of objects", folder);
}

StoreEntry ObjectStore::entry_of(const BuildRecipe& recipe, const std::string& surroundings,
                                 const std::map<std::string, std::string>& texts) const {
  StoreEntry entry;
  entry.key = surroundings + "\n" + sandbox_.level() + "\n";
  for (const auto& [name, text] : texts) {
    entry.key += recipe.lab + "/" + name + "\n";
    for (const std::string& argument : recipe.find(name)->compile) entry.key += argument + " ";
    entry.key += "\n" + text;
  }
  entry.base = folder_ + "/" + hash_of(entry.key);
  return entry;
}

std::map<std::string, CompiledSource> ObjectStore::compile(const BuildRecipe& recipe,
                                                           const std::map<std::string, std::string>& texts) const {
  const std::string surroundings = surroundings_of(recipe);
  std::map<std::string, StoreEntry> entries;
  std::map<std::string, std::string> missing;
  for (const auto& [name, text] : texts) {
    entries[name] = entry_of(recipe, surroundings, {{name, text}});
    if (!entries[name].exists()) missing[name] = text;
  }

  std::map<std::string, CompiledSource> compiled;
  if (!missing.empty()) {
    const Compilation compilation{recipe, missing, entries};
    std::string fault = compilation.run(sandbox_, compiled);
    if (!fault.empty()) fault = compilation.run(sandbox_, compiled);
    if (!fault.empty()) throw NotJudged("twice, the compiler was stopped by the system: " + one_line(fault));
  }
  for (const auto& [name, entry] : entries) {
    if (compiled.count(name) == 0) compiled[name] = entry.load();
  }
  return compiled;
}

std::optional<std::string> ObjectStore::compile_as_one(const BuildRecipe& recipe,
                                                       const std::map<std::string, std::string>& texts) const {
  const auto header = [&](const std::string& path) -> std::optional<std::string> {
    const std::string file = recipe.root + "/" + path;
    if (!std::filesystem::is_regular_file(file)) return std::nullopt;
    return read_file(file);
  };
  if (!mean_the_same_as_one(unit_files(recipe, texts), header, "common/pch/student.h")) return std::nullopt;
  const StoreEntry entry = entry_of(recipe, surroundings_of(recipe), texts);
  if (!entry.exists()) {
    const UnitCompilation compilation{recipe, texts, entry};
    std::string fault = compilation.run(sandbox_);
    if (!fault.empty()) fault = compilation.run(sandbox_);
    if (!fault.empty()) throw NotJudged("twice, the compiler was stopped by the system: " + one_line(fault));
  }
  const CompiledSource made = entry.load();
  if (made.object.empty()) return std::nullopt;
  return made.object;
}

}  // namespace lab::grading
