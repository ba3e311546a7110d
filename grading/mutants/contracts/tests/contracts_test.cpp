#include "grading/mutants/contracts/contracts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"

namespace {

namespace fs = std::filesystem;
using namespace lab;
using namespace lab::grading;

std::string source_dir() {
  const char* folder = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(folder != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return folder;
}

/// "a9_collectives" by "a9"
std::map<std::string, std::string> lab_folders(const std::string& root) {
  std::map<std::string, std::string> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (fs::is_directory(entry.path() / "student")) folders[name.substr(0, name.find('_'))] = name;
  }
  return folders;
}

}  // namespace

TEST_CASE("contracts: every promise of a student header has an entry, and every entry a promise") {
  const std::string root = source_dir();
  const std::map<std::string, std::string> folders = lab_folders(root);
  REQUIRE(folders.size() == 5);
  for (const auto& [lab, folder] : folders) {
    const std::vector<Contract> contracts =
        load_contracts(fmt::format("{}/grading/mutants/contracts/{}.toml", root, lab));
    const std::vector<PromisedLine> lines = promised_lines(root, folder);
    CHECK(lines.size() > 5);
    for (const PromisedLine& line : lines) {
      const auto entries =
          std::count_if(contracts.begin(), contracts.end(), [&](const Contract& one) { return is_about(one, line); });
      const auto alike = std::count_if(lines.begin(), lines.end(), [&](const PromisedLine& other) {
        return other.header == line.header && other.text == line.text;
      });
      CHECK_MESSAGE(entries >= alike, line.header << ":" << line.line << ": no contract breaks '" << line.text << "'");
    }
    for (const Contract& one : contracts) {
      std::set<std::string> about;
      for (const PromisedLine& line : lines) {
        if (is_about(one, line)) about.insert(line.text);
      }
      CHECK_MESSAGE(about.size() == 1,
                    one.place << ": '" << one.sentence << "' begins " << about.size() << " lines of " << one.header);
      if (!one.given.empty())
        CHECK_MESSAGE(fs::is_regular_file(root + "/" + one.given), one.place << ": " << one.given);
    }
  }
}

TEST_CASE("contracts: sentences of several lines, and what given code keeps") {
  const launch::RunDirectory folder;
  fs::create_directories(folder.path() + "/a0_lab/student");
  std::ofstream(folder.path() + "/a0_lab/student/one.cpp")
      << "#include \"a0_lab/given.h\"\n#include \"a0_lab/one.h\"\nvoid one() {\n// BEGIN SOLUTION a0.one\n"
         "// END SOLUTION a0.one\n}\n";
  std::ofstream(folder.path() + "/a0_lab/student/given.cpp") << "#include \"a0_lab/given.h\"\nint given() {\n}\n";
  std::ofstream(folder.path() + "/a0_lab/one.h")
      << "/// Does it.\n/// Returns   the sum,\n///           twice\n"
         "/// Errors    ContractError (checked before your code)\n"
         "  /// Cost      one message\n  /// Source    a book\nvoid one();\n";
  std::ofstream(folder.path() + "/a0_lab/given.h") << "/// Returns   1, as one() does not\nint given();\n";
  const std::vector<PromisedLine> lines = promised_lines(folder.path(), "a0_lab");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text == "Returns the sum, twice");
  CHECK(lines[0].line == 2);
  CHECK(lines[1].text == "Cost one message");
  CHECK(is_about({"a0_lab/one.h", "Cost one", "", "", "", "", "", ""}, lines[1]));
  CHECK_FALSE(is_about({"a0_lab/two.h", "Cost one", "", "", "", "", "", ""}, lines[1]));
}

TEST_CASE("contracts: an entry says what breaks the sentence, or which test of given code keeps it") {
  const launch::RunDirectory folder;
  const std::string path = folder.path() + "/a0.toml";
  const auto refused = [&](const std::string& rest) {
    std::ofstream(path) << "[[contract]]\nheader = \"a\"\nsentence = \"Cost one\"\n" << rest;
    CHECK_THROWS_AS(load_contracts(path), UsageError);
  };
  refused("");
  refused("file = \"b\"\nreplace = \"x\"\ngiven = \"c\"\n");
  refused("file = \"b\"\nwith = \"x\"\n");
}
