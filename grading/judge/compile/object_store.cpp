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

struct StoreEntry {
  std::string key, base;  // base: its path without an extension

  bool exists() const {
    return std::filesystem::exists(base + ".key") && std::filesystem::exists(base + ".errors") &&
           read_file(base + ".key") == key;
  }
  CompiledSource load() const {
    if (std::filesystem::exists(base + ".o")) return {base + ".o", ""};
    return {"", read_file(base + ".errors")};
  }
};

/// A word quoted for ninja and for the shell that it starts.
std::string quoted(const std::string& argument) {
  std::string result = "'";
  for (const char letter : argument) result += letter == '$' ? "$$" : std::string(1, letter);
  return result + "'";
}

/// Compiles in the tree that lay_out_tree() makes, which is also where headers are found.
std::string ninja_file(const BuildRecipe& recipe, const std::vector<std::string>& names) {
  std::string text = "rule compile\n  command = $what\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string command;
    for (const std::string& argument : recipe.find(names[i])->compile) {
      const std::string path = argument == kSourcePlace         ? recipe.lab + "/" + names[i]
                               : argument == kObjectPlace       ? fmt::format("{}.o", i)
                               : argument == "-I" + recipe.root ? "-I."
                                                                : argument;
      command += quoted(path) + " ";
    }
    text += fmt::format("build {0}.o: compile\n  what = {1} -MD -MF {0}.read 2> {0}.errors\n", i, command);
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

/// Compiles the files in a new folder, and stores the result of each.
struct Compilation {
  const BuildRecipe& recipe;
  const std::vector<std::string>& names;
  const std::map<std::string, std::string>& texts;
  const std::map<std::string, StoreEntry>& entries;

  /// Returns the errors of a compiler that the machine kept from working; empty if there was none.
  std::string run(const Sandbox& sandbox, std::map<std::string, CompiledSource>& compiled) const {
    const launch::RunDirectory work;
    lay_out_tree(recipe, work.path());
    for (const std::string& name : names) write_source(work.path() + "/" + recipe.lab + "/" + name, texts.at(name));
    write_source(work.path() + "/build.ninja", ninja_file(recipe, names));
    const SandboxResult result = sandbox.run_or_give_up(compile_job(recipe, work.path(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const StoreEntry& entry = entries.at(names[i]);
      const std::string object = fmt::format("{}/{}.o", work.path(), i),
                        errors_file = fmt::format("{}/{}.errors", work.path(), i);
      std::string errors = std::filesystem::exists(errors_file) ? read_file(errors_file) : "";
      if (is_machines_fault(errors)) return errors;
      const std::string secret = secret_read(recipe, work.path(), fmt::format("{}/{}.read", work.path(), i));
      if (!secret.empty()) errors = fmt::format("error: {}: No such file for a submission\n", secret);
      if (secret.empty() && std::filesystem::exists(object)) {
        write_file_atomically(entry.base + ".o", read_file(object));
      } else if (errors.empty()) {
        // Not stored: another time, the other files may leave it more time.
        compiled[names[i]].errors = fmt::format("the compiler {}", result.ending());
        continue;
      } else {
        std::filesystem::remove(entry.base + ".o");  // of another text with the same hash
      }
      write_file_atomically(entry.base + ".errors", errors);
      write_file_atomically(entry.base + ".key", entry.key);
    }
    return "";
  }
};

}  // namespace

ObjectStore::ObjectStore(const std::string& folder, const Sandbox& sandbox) : folder_(folder), sandbox_(sandbox) {
  make_folder("the store of objects", folder);
}

std::map<std::string, CompiledSource> ObjectStore::compile(const BuildRecipe& recipe,
                                                           const std::map<std::string, std::string>& texts) const {
  const std::string surroundings = surroundings_of(recipe);
  std::map<std::string, StoreEntry> entries;
  std::vector<std::string> missing;
  for (const auto& [name, text] : texts) {
    StoreEntry& entry = entries[name];
    entry.key = surroundings + "\n" + sandbox_.level() + "\n" + recipe.lab + "/" + name + "\n";
    for (const std::string& argument : recipe.find(name)->compile) entry.key += argument + " ";
    entry.key += "\n" + text;
    entry.base = folder_ + "/" + hash_of(entry.key);
    if (!entry.exists()) missing.push_back(name);
  }

  std::map<std::string, CompiledSource> compiled;
  if (!missing.empty()) {
    const Compilation compilation{recipe, missing, texts, entries};
    std::string fault = compilation.run(sandbox_, compiled);
    if (!fault.empty()) fault = compilation.run(sandbox_, compiled);
    if (!fault.empty()) throw NotJudged("twice, the compiler was stopped by the system: " + one_line(fault));
  }
  for (const auto& [name, entry] : entries) {
    if (compiled.count(name) == 0) compiled[name] = entry.load();
  }
  return compiled;
}

}  // namespace lab::grading
