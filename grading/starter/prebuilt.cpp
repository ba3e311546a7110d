#include "grading/starter/prebuilt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/course/starter/starter_update.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string path = (fs::temp_directory_path() / "lab-prebuilt-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr)
      throw UsageError(fmt::format("'{}': expected a folder that can be made; hint: set TMPDIR", path));
    path_ = path;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// "lab_comm/Unity_unity_0_cxx.cxx.o" of ".../CMakeFiles/lab_comm.dir/Unity/unity_0_cxx.cxx.o"; "" for what every tree
/// compiles itself: students' files, precompiled headers, third-party code, and the file that knows where the tree is.
std::string name_object(const std::string& path) {
  static const std::regex object("CMakeFiles/([^/]+)[.]dir/(.+[.]o)$"), own("lab_(pch|own)_.*|.*_student");
  std::smatch match;
  if (!std::regex_search(path, match, object) || std::regex_match(match.str(1), own)) return "";
  std::string name = match.str(2);
  if (name.find("student_frame.cpp") != std::string::npos) return "";
  std::replace(name.begin(), name.end(), '/', '_');
  return match.str(1) + "/" + name;
}

}  // namespace

StarterTree compile_provided_code(const StarterTree& tree) {
  const ScratchFolder scratch;
  update_starter(tree, scratch.path());
  for (const std::vector<std::string>& words : {std::vector<std::string>{"build"}, {"compile", "lab_demo"}}) {
    ProcessSpec command;
    command.argv = {scratch.path() + "/lab", "--no-install"};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.capture = false;
    const ProgramEnd end = run_program(command);
    if (!end.well())
      throw UsageError(fmt::format("the starter's ./lab {} {}; its output is above", fmt::join(words, " "),
                                   describe_status(end.status)));
  }
  const std::string build = scratch.path() + "/build/release";
  StarterTree prebuilt = {{"prebuilt/made_for.txt", {read_file(build + "/made_for.txt")}}};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(build)) {
    const std::string name = name_object(entry.path().string());
    if (!name.empty()) prebuilt["prebuilt/" + name] = {read_file(entry.path().string())};
  }
  return prebuilt;
}

}  // namespace lab::grading
