#include "grading/compile/object_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <vector>

#include "common/base/checksum.h"
#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

// Of an edition of a course that is over, or of another version of the suite.
constexpr std::chrono::hours kUnusedFor{24 * 30};

/// The whole key is stored next to the object, so that two texts with the same hash are told apart.
std::string compute_hash(const std::string& text) {
  return fmt::format("{:016x}", compute_checksum(text));
}

/// Everything but its own text that a student file's object depends on: the headers' text, and the modification time of
/// the precompiled header, which is too large to be read each time.
std::string describe_surroundings(const BuildRecipe& recipe) {
  std::set<std::string> stamps;
  for (const std::string& part : {recipe.root + "/common", recipe.root + "/" + recipe.lab}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(part)) {
      if (entry.path().extension() == ".h")
        stamps.insert(entry.path().string() + " " + compute_hash(read_file(entry.path().string())));
    }
  }
  for (const StudentSource& source : recipe.sources) {
    const std::string header = find_precompiled_header(source.compile);
    if (!std::filesystem::exists(header)) continue;
    const auto made = std::filesystem::last_write_time(header).time_since_epoch().count();
    stamps.insert(fmt::format("{} {}", header, made));
  }
  return compute_hash(fmt::format("{}", fmt::join(stamps, "\n")));
}

/// Keeps what was made under the entry's name.
void keep(const StoreEntry& entry, const CompiledSource& made) {
  if (made.object.empty()) {
    std::filesystem::remove(entry.base + ".o");  // of another text with the same hash
  } else {
    write_file_atomically(entry.base + ".o", read_file(made.object));
  }
  write_file_atomically(entry.base + ".errors", made.errors);
  write_file_atomically(entry.base + ".key", entry.key);
}

/// Compiles, once more if the machine kept the compiler from working.
void compile_or_give_up(const std::function<std::string()>& compile) {
  std::string fault = compile();
  if (!fault.empty()) fault = compile();
  if (!fault.empty()) throw NotJudged("twice, the compiler was stopped by the system: " + one_line(fault));
}

/// Removes the entries that have not been used for kUnusedFor. The key goes last, so that an interrupted removal is
/// finished the next time.
void forget_unused(const std::string& folder) {
  std::vector<std::filesystem::path> unused;
  const auto oldest = std::filesystem::file_time_type::clock::now() - kUnusedFor;
  std::error_code gone;  // by another process, which does the same
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".key" && entry.last_write_time(gone) < oldest && !gone)
      unused.push_back(entry.path());
  }
  for (std::filesystem::path path : unused) {
    for (const char* ending : {".o", ".errors", ".key"}) std::filesystem::remove(path.replace_extension(ending), gone);
  }
}

}  // namespace

bool StoreEntry::exists() const {
  return std::filesystem::exists(base + ".key") && std::filesystem::exists(base + ".errors") &&
         read_file(base + ".key") == key;
}

CompiledSource StoreEntry::load() const {
  std::error_code gone;
  std::filesystem::last_write_time(base + ".key", std::filesystem::file_time_type::clock::now(), gone);
  if (std::filesystem::exists(base + ".o")) return {base + ".o", ""};
  return {"", read_file(base + ".errors")};
}

ObjectStore::ObjectStore(const std::string& folder, const Sandbox& sandbox) : folder_(folder), sandbox_(sandbox) {
  make_folder("the store of objects", folder);
  forget_unused(folder);
}

StoreEntry ObjectStore::find_entry(const BuildRecipe& recipe, const std::string& surroundings,
                                   const std::map<std::string, std::string>& texts) const {
  StoreEntry entry;
  entry.key = surroundings + "\n" + sandbox_.level() + "\n";
  for (const auto& [name, text] : texts) {
    entry.key += recipe.lab + "/" + name + "\n";
    for (const std::string& argument : recipe.find(name)->compile) entry.key += argument + " ";
    entry.key += "\n" + text;
  }
  entry.base = folder_ + "/" + compute_hash(entry.key);
  return entry;
}

std::map<std::string, CompiledSource> ObjectStore::compile(const BuildRecipe& recipe,
                                                           const std::map<std::string, std::string>& texts) const {
  const std::string surroundings = describe_surroundings(recipe);
  std::map<std::string, StoreEntry> entries;
  std::map<std::string, std::string> missing;
  for (const auto& [name, text] : texts) {
    entries[name] = find_entry(recipe, surroundings, {{name, text}});
    if (!entries[name].exists()) missing[name] = text;
  }

  std::map<std::string, CompiledSource> compiled;
  if (!missing.empty()) {
    compile_or_give_up([&] {
      return compile_each(recipe, missing, sandbox_, [&](const CompiledUnit& made) {
        if (made.is_final) {
          keep(entries.at(made.name), made.source);
        } else {
          compiled[made.name] = made.source;
        }
      });
    });
  }
  for (const auto& [name, entry] : entries) {
    if (compiled.count(name) == 0) compiled[name] = entry.load();
  }
  return compiled;
}

CompiledSource ObjectStore::compile_as_one(const BuildRecipe& recipe,
                                           const std::map<std::string, std::string>& texts) const {
  const StoreEntry entry = find_entry(recipe, describe_surroundings(recipe), texts);
  if (!entry.exists()) {
    compile_or_give_up([&] {
      return compile_unit(recipe, texts, sandbox_, [&](const CompiledUnit& made) { keep(entry, made.source); });
    });
  }
  return entry.load();
}

}  // namespace lab::grading
