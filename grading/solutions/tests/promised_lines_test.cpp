#include "grading/solutions/tests/promised_lines.h"

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
#include "grading/solutions/solution_table.h"

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

TEST_CASE("solutions: every promise of a student header has a row, and every row a promise") {
  const std::string root = source_dir();
  const std::map<std::string, std::string> folders = lab_folders(root);
  REQUIRE(folders.size() == 5);
  for (const auto& [lab, folder] : folders) {
    const SolutionTable table = load_solutions(fmt::format("{}/grading/solutions/{}.toml", root, lab));
    std::vector<KeptSentence> entries = table.kept;
    for (const Solution& one : table.solutions) {
      if (!one.sentence.empty()) entries.push_back({one.header, one.sentence, "", one.place});
    }
    const std::vector<PromisedLine> lines = promised_lines(root, folder);
    CHECK(lines.size() > 5);
    for (const PromisedLine& line : lines) {
      const auto about = std::count_if(entries.begin(), entries.end(), [&](const KeptSentence& one) {
        return is_about(one.header, one.sentence, line);
      });
      const auto alike = std::count_if(lines.begin(), lines.end(), [&](const PromisedLine& other) {
        return other.header == line.header && other.text == line.text;
      });
      CHECK_MESSAGE(about >= alike, line.header << ":" << line.line << ": no solution breaks '" << line.text << "'");
    }
    for (const KeptSentence& one : entries) {
      std::set<std::string> about;
      for (const PromisedLine& line : lines) {
        if (is_about(one.header, one.sentence, line)) about.insert(line.text);
      }
      CHECK_MESSAGE(about.size() == 1,
                    one.place << ": '" << one.sentence << "' begins " << about.size() << " lines of " << one.header);
      if (!one.given.empty())
        CHECK_MESSAGE(fs::is_regular_file(root + "/" + one.given), one.place << ": " << one.given);
    }
  }
}

TEST_CASE("solutions: sentences of several lines, and what given code keeps") {
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
  CHECK(is_about("a0_lab/one.h", "Cost one", lines[1]));
  CHECK_FALSE(is_about("a0_lab/two.h", "Cost one", lines[1]));
}
