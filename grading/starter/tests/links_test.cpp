#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/testing/plain_test.h"
#include "grading/starter/tests/source_tree.h"

// What a starter's files refer to is in the starter.
namespace lab::grading {
namespace {

namespace fs = std::filesystem;

bool is_there(const StarterTree& tree, const std::string& path) {
  if (tree.count(path) > 0) return true;
  const auto inside = tree.lower_bound(path + "/");
  return inside != tree.end() && inside->first.compare(0, path.size() + 1, path + "/") == 0;
}

/// What is included; of a header that the build makes of a folder (lab_embed), that folder.
std::string find_source(const std::string& included) {
  const std::string made = "embedded/", ending = ".h";
  if (included.compare(0, made.size(), made) != 0) return included;
  return included.substr(made.size(), included.size() - made.size() - ending.size());
}

/// Anchors as Markdown viewers derive them from headings: "Exit codes" -> "exit-codes".
std::string make_anchor(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || static_cast<signed char>(c) < 0) {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

std::set<std::string> list_anchors(const std::string& markdown) {
  std::set<std::string> anchors;
  for (const std::string& line : list_lines(markdown)) {
    const std::size_t level = line.find_first_not_of('#');
    if (level > 0 && level != std::string::npos && line[level] == ' ')
      anchors.insert(make_anchor(std::string(trimmed(line.substr(level)))));
  }
  return anchors;
}

void check_headers(const StarterTree& tree) {
  const std::regex include("^#include \"([^\"]+)\"");
  for (const auto& [path, file] : tree) {
    const std::string kind = fs::path(path).extension().string();
    if (kind != ".cpp" && kind != ".h") continue;
    CAPTURE(path);
    for (const std::string& line : list_lines(file.bytes)) {
      std::smatch found;
      if (std::regex_search(line, found, include)) CHECK_MESSAGE(is_there(tree, find_source(found[1])), found[1].str());
    }
  }
}

/// All labs, and each alone.
std::vector<std::vector<std::string>> choices_of_labs() {
  std::vector<std::vector<std::string>> choices = {labs_of_source(source_dir())};
  for (const std::string& lab : labs_of_source(source_dir())) choices.push_back({lab});
  return choices;
}

TEST_CASE("every header of ours that a file includes is in the starter") {
  for (const std::vector<std::string>& labs : choices_of_labs()) check_headers(derive_from(labs));
}

/// Checks the links of the tree's texts, and returns how many there are.
std::size_t check_links(const StarterTree& tree) {
  const std::regex link("\\]\\(([^)#]*)(#([^)]*))?\\)");
  std::size_t num_links = 0;
  for (const auto& [path, file] : tree) {
    if (fs::path(path).extension() != ".md" || path[0] == '.') continue;
    CAPTURE(path);
    // What a student's own report will link to does not exist yet.
    if (has(path, ".template.")) continue;
    for (auto at = std::sregex_iterator(file.bytes.begin(), file.bytes.end(), link); at != std::sregex_iterator();
         ++at) {
      const std::string target = (*at)[1], anchor = (*at)[3];
      CAPTURE(target);
      CAPTURE(anchor);
      if (has(target, "://")) continue;
      const fs::path full =
          target.empty() ? fs::path(path) : (fs::path(path).parent_path() / target).lexically_normal();
      const std::string there = full.filename().empty() ? full.parent_path().string() : full.string();
      ++num_links;
      REQUIRE(is_there(tree, there));
      if (!anchor.empty()) CHECK(list_anchors(tree.at(there).bytes).count(anchor) == 1);
    }
  }
  return num_links;
}

TEST_CASE("every link of a text leads to a file, and to a heading of it, that the starter has") {
  for (const std::vector<std::string>& labs : choices_of_labs()) CHECK(check_links(derive_from(labs)) >= 5);
}

/// The suite's own files: of texts what they say, of others their names.
StarterTree whole_tree() {
  StarterTree tree;
  const auto add = [&](const fs::directory_entry& entry) {
    const std::string path = fs::relative(entry.path(), source_dir()).string();
    const bool is_text = entry.path().extension() == ".md" && !has(path, "/tests/") && !has(path, ".starter.md");
    if (entry.is_regular_file()) tree[path] = {is_text ? read_file(entry.path().string()) : "", false};
  };
  for (const auto& entry : fs::directory_iterator(source_dir())) add(entry);
  std::vector<std::string> folders = labs_of_source(source_dir());
  folders.insert(folders.end(), {"common", "grading"});
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(source_dir() + "/" + folder)) add(entry);
  }
  return tree;
}

TEST_CASE("every link of a text leads to a file, and to a heading of it, that the whole tree has") {
  CHECK(check_links(whole_tree()) >= 50);
}

TEST_CASE("every source that a CMakeLists names, but those of tests, is in the starter") {
  const StarterTree tree = starter_of_all_labs();
  const std::regex source("^\\s+([a-z0-9_/]+\\.cpp)\\s*$", std::regex::icase);
  const std::regex pattern("([a-z0-9_/]+)/\\*\\.cpp", std::regex::icase);
  std::size_t num_sources = 0;
  for (const auto& [path, file] : tree) {
    if (fs::path(path).filename() != "CMakeLists.txt" || path == "CMakeLists.txt") continue;
    CAPTURE(path);
    for (const std::string& line : list_lines(file.bytes)) {
      std::smatch found;
      // "SOURCES cases/*.cpp EXCEPT ...": each file that the whole tree has there.
      const std::size_t except = std::min(line.find("EXCEPT"), line.size());
      for (std::sregex_iterator folder(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(except), pattern), end;
           folder != end && !has(line, "tests/"); ++folder) {
        const std::string name = (*folder)[1];
        if (has(name, "*")) continue;
        const std::string place = fs::path(path).parent_path().string() + "/" + name;
        for (const auto& entry : fs::directory_iterator(source_dir() + "/" + place)) {
          const std::string file_name = entry.path().filename().string();
          if (entry.path().extension() != ".cpp" || has(line.substr(except), name + "/" + file_name)) continue;
          ++num_sources;
          CHECK_MESSAGE(is_there(tree, place + "/" + file_name), place << "/" << file_name);
        }
      }
      if (!std::regex_search(line, found, source) || has(line, "tests/")) continue;
      ++num_sources;
      CHECK_MESSAGE(is_there(tree, fs::path(path).parent_path().string() + "/" + found[1].str()), found[1].str());
    }
  }
  CHECK(num_sources > 200);
}

}  // namespace
}  // namespace lab::grading
