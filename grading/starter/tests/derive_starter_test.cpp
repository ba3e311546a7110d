#include "grading/starter/derive_starter.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/starter/markers.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"
#include "grading/starter/tests/source_tree.h"

namespace lab::grading {
namespace {

/// Puts the reference's regions back in place of the stubs, by the starter's own lines; returns what is wrong if the
/// lines around or in the regions differ.
std::string with_regions_put_back(const std::string& starter, const std::vector<SourcePart>& reference) {
  std::string text;
  std::size_t at = 0;
  const auto take = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (starter.compare(at, line.size(), line) != 0) return false;
      at += line.size();
    }
    return true;
  };
  for (const SourcePart& part : reference) {
    if (!take(part.task.empty() ? part.lines : part.stub)) return fmt::format("differs at byte {}", at);
    text += part.begin_line;
    for (const std::string& line : part.stub_lines) text += line;
    for (const std::string& line : part.lines) text += line;
    text += part.end_line;
  }
  return at == starter.size() ? text : "has more lines";
}

TEST_CASE("regions pasted back into the starter give the reference, byte for byte") {
  std::size_t num_files_with_regions = 0;
  for (const auto& [path, file] : starter_of_all_labs()) {
    CAPTURE(path);
    if (path == "README.md" || path[0] == '.' || has(file.bytes, std::string_view("\0", 1))) continue;
    const std::string reference = read_file(source_dir() + "/" + path);
    if (reference == file.bytes) continue;
    ++num_files_with_regions;
    CHECK((with_regions_put_back(file.bytes, parts_of_source(reference)) == reference));
  }
  CHECK(num_files_with_regions >= 60);
}

TEST_CASE("the file or folder of each task has its TODO in the starter") {
  const StarterTree tree = starter_of_all_labs();
  for (const std::string& lab : labs_of_source(source_dir())) {
    for (const RubricTask& task : load_rubric(source_dir() + "/" + lab + "/rubric.toml").tasks) {
      CAPTURE(task.id);
      std::string text;
      for (const auto& [path, file] : tree) {
        if (is_below_any(path, {lab + "/" + task.file})) text += file.bytes;
      }
      CHECK(has(text, "TODO("));
      CHECK(has(text, "not_implemented(\""));
    }
  }
}

TEST_CASE("student files are there a second time, as they are handed out") {
  std::size_t num_student_files = 0;
  const StarterTree tree = starter_of_all_labs();
  for (const auto& [path, file] : tree) {
    if (!is_student_file(path)) continue;
    ++num_student_files;
    CHECK((tree.at(".lab-pristine/" + path).bytes == file.bytes));
  }
  CHECK(num_student_files >= 60);
}

TEST_CASE("the same source gives the same starter") {
  const StarterTree once = starter_of_all_labs(), again = starter_of_all_labs();
  CHECK((starter_list(once) == starter_list(again)));
}

TEST_CASE("a starter of some labs has these labs only, and says so in its README") {
  const std::vector<std::string> labs = chosen_labs("a9,a4", source_dir());
  REQUIRE(labs == std::vector<std::string>{"a4_data_tensor", "a9_collectives"});
  const StarterTree tree = derive_from(labs);
  for (const auto& [path, file] : tree) {
    CAPTURE(path);
    const std::string part = path.substr(0, path.find('/'));
    const bool wanted = part == path || part == "common" || part[0] == '.' || part == labs[0] || part == labs[1];
    CHECK(wanted);
  }
  const std::string& readme = tree.at("README.md").bytes;
  CHECK(has(readme, "(a9_collectives/README.md)"));
  CHECK_FALSE(has(readme, "(a5_pipeline/README.md)"));
  CHECK(has(readme, "`./lab run a4 run a4.column_parallel --debug-rank 1`"));  // not of a task that one rank does alone
  CHECK_FALSE(has(readme, "{{"));
}

TEST_CASE("a starter of one lab has what its program is linked with, and nothing of the judge's or of benchmarks") {
  const StarterTree a4 = derive_from({"a4_data_tensor"});
  CHECK(a4.count("common/comm/collectives.cpp") == 1);
  CHECK(a4.count("common/comm/sim/missing.cpp") == 1);  // where there is no SimGrid
  CHECK(a4.count("common/page/pages/style.css") == 1);
  CHECK(a4.count("common/course/hand_in/hand_in_commands.cpp") == 1);  // ./lab submit
  const StarterTree a5 = derive_from({"a5_pipeline"}), vae = derive_from({"vae_sequence_parallel"});
  CHECK(a5.count("common/pipeline/timeline.cpp") + a5.count("common/pipeline/timeline.h") == 2);
  CHECK(vae.count("common/tensor/files/picture.cpp") + vae.count("common/tensor/files/picture.h") == 2);
  CHECK(a4.count("common/api/collectives.h") + vae.count("common/api/peak_memory.h") == 2);
  for (const char* path : {"common/api/peak_memory.h", "common/pipeline/timeline.cpp", "common/pipeline/timeline.h",
                           "common/tensor/files/picture.cpp", "common/tensor/files/picture.h"}) {
    CHECK_MESSAGE(a4.count(path) == 0, path);
  }
  for (const StarterTree& tree : {a4, a5, vae}) {
    for (const auto& [path, file] : tree) {
      CAPTURE(path);
      for (const char* part : {"common/bench/", "common/python/", "common/rank/start/", "/sent"})
        CHECK_FALSE(has(path, part));
    }
  }
}

TEST_CASE("labs are named by folder or by short name; another name is refused with the nearest") {
  const auto message = [](const std::string& names) {
    return testing::get_message([&] { chosen_labs(names, source_dir()); });
  };
  CHECK(chosen_labs("optC,optC_model_parallel", source_dir()) == std::vector<std::string>{"optC_model_parallel"});
  CHECK(message("a4,a9_colectives") == "unknown lab 'a9_colectives'; did you mean 'a9_collectives'?");
  CHECK(message("") == "--labs: expected labs such as a4,a9, got nothing");
}

/// A copy of one lab and of the top-level files, to modify.
struct CopiedSource {
  testing::TemporaryFolder folder;
  const std::string root = folder.file("");

  explicit CopiedSource(const std::string& lab) {
    namespace fs = std::filesystem;
    fs::create_directories(root + "common");
    fs::create_directories(root + "grading/starter");
    fs::copy(source_dir() + "/" + lab, root + lab, fs::copy_options::recursive);
    fs::copy(source_dir() + "/grading/starter/README.starter.md", root + "grading/starter");
    fs::copy(source_dir() + "/grading/starter/ci", root + "grading/starter/ci");
    for (const fs::directory_entry& entry : fs::directory_iterator(source_dir())) {
      if (entry.is_regular_file()) fs::copy(entry.path(), root);
    }
  }
};

TEST_CASE("results of the author's own runs are left out") {
  const CopiedSource source("a9_collectives");
  const std::string before = starter_list(derive_starter(source.root, {"a9_collectives"}));
  for (const std::string name :
       {"written_answers_task1.md", "all_to_all_schematic.png", "all_to_all_schematic.pdf", "a9_collectives.log",
        "a9_collectives.err", ".secret", "student/ring.cpp.orig", "student/a.out"}) {
    testing::write_bytes(source.root + "a9_collectives/" + name, "my own");
  }
  CHECK((starter_list(derive_starter(source.root, {"a9_collectives"})) == before));
}

TEST_CASE("markers that are wrong are named with their file") {
  const CopiedSource source("a4_data_tensor");
  testing::write_bytes(source.root + "a4_data_tensor/student/row_parallel.cpp", "int x;\n// END SOLUTION a4.x\n");
  CHECK(testing::get_message([&] { derive_starter(source.root, {"a4_data_tensor"}); }) ==
        "a4_data_tensor/student/row_parallel.cpp: solution markers, line 2: END SOLUTION without a beginning");
}

TEST_CASE("a README that has lost a row or a section is refused") {
  const CopiedSource source("a4_data_tensor");
  const std::string readme = read_file(source.root + "README.md");
  const auto message_without = [&](const std::string& part) {
    std::string changed = readme;
    changed.replace(changed.find(part), part.size(), "x");
    testing::write_bytes(source.root + "README.md", changed);
    return testing::get_message([&] { derive_starter(source.root, {"a4_data_tensor"}); });
  };
  CHECK(message_without("| [a4_data_tensor]") ==
        "README.md: expected a row of the table of labs that begins '| [a4_data_tensor](a4_data_tensor/README.md) |'");
  CHECK(message_without("## Exit codes") == "README.md: expected a section '## Exit codes'");
}

}  // namespace
}  // namespace lab::grading
