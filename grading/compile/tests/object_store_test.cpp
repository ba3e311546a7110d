#include "grading/compile/object_store.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include "common/base/files.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {
namespace {

/// A lab with one student file, with a shell script as its compiler. The script adds a line to `calls` each time.
struct SmallLab {
  launch::RunDirectory tree;
  Sandbox sandbox = Sandbox::detect(false);  ///< the test's script writes outside of its folder

  std::map<std::string, CompiledSource> compile(const std::string& script,
                                                const std::vector<std::string>& options = {}) const {
    for (const char* folder : {"/common", "/lab", "/build/CMakeFiles"})
      std::filesystem::create_directories(tree.path() + folder);
    StudentSource source;
    source.name = "student/pipe.cpp";
    const std::string compiler = tree.path() + "/build/CMakeFiles/compiler" + std::to_string(script.size());
    std::ofstream(compiler) << "echo called >>" << calls() << "\n" << script << "\n";
    source.compile = {"sh", compiler, kSourcePlace, kObjectPlace};
    source.compile.insert(source.compile.end(), options.begin(), options.end());
    BuildRecipe recipe;
    recipe.lab = "lab";
    recipe.root = tree.path();
    recipe.folder = tree.path() + "/build";
    recipe.sources = {source};
    return ObjectStore(tree.path() + "/objects", sandbox).compile(recipe, {{source.name, "int pipe;"}});
  }
  std::string calls() const { return tree.path() + "/calls"; }
};

TEST_CASE("an object, or what the compiler said of the file, is kept and not made again") {
  const SmallLab lab;
  for (int time = 0; time < 2; ++time) {
    const CompiledSource made = lab.compile("cp $1 $2").at("student/pipe.cpp");
    CHECK(read_file(made.object) == "int pipe;");
    const CompiledSource wrong = lab.compile("echo 'error: expected' >&2; exit 1").at("student/pipe.cpp");
    CHECK(wrong.object.empty());
    CHECK(wrong.errors == "error: expected\n");
  }
  CHECK(read_file(lab.calls()) == "called\ncalled\n");
}

TEST_CASE("an object is made anew once its precompiled header was: g++'s or clang's") {
  const SmallLab lab;
  const std::string header = lab.tree.path() + "/cmake_pch.hxx";
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto compile = [&](const std::vector<std::string>& options, const std::string& made, int hours_ago) {
    std::ofstream(made) << "made";
    std::filesystem::last_write_time(made, now - std::chrono::hours(hours_ago));
    lab.compile("cp $1 $2", options);
  };
  const std::vector<std::string> gcc = {"-include", header};
  const std::vector<std::string> clang = {"-Xclang", "-include-pch", "-Xclang", header + ".pch",
                                          "-Xclang", "-include",     "-Xclang", header};
  for (const int hours_ago : {2, 2, 1}) compile(gcc, header + ".gch", hours_ago);
  CHECK(read_file(lab.calls()) == "called\ncalled\n");
  for (const int hours_ago : {2, 2, 1}) compile(clang, header + ".pch", hours_ago);
  CHECK(read_file(lab.calls()) == "called\ncalled\ncalled\ncalled\n");
}

TEST_CASE("entries that were not used for a month are removed") {
  const SmallLab lab;
  const auto make_key = [](const std::string& object) { return object.substr(0, object.size() - 1) + "key"; };
  const std::string old = lab.compile("cp $1 $2").at("student/pipe.cpp").object;
  const std::string used = lab.compile("cp  $1 $2").at("student/pipe.cpp").object;
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 29);
  std::filesystem::last_write_time(make_key(old), long_ago - std::chrono::hours(48));
  std::filesystem::last_write_time(make_key(used), long_ago);
  CHECK(lab.compile("cp  $1 $2").at("student/pipe.cpp").object == used);
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK_FALSE(std::filesystem::exists(make_key(old)));
  CHECK(std::filesystem::last_write_time(make_key(used)) > long_ago + std::chrono::hours(24));
  CHECK(read_file(lab.calls()) == "called\ncalled\n");
}

TEST_CASE("an object that was made at another level of isolation is not used") {
  SmallLab lab;
  lab.compile("cp $1 $2");
  lab.sandbox = Sandbox::detect(true);
  lab.compile("cp $1 $2");
  int num_objects = 0;
  for (const auto& entry : std::filesystem::directory_iterator(lab.tree.path() + "/objects"))
    num_objects += entry.path().extension() == ".key";
  CHECK(num_objects == 2);
}

TEST_CASE("a compiler that the system stopped is run once more, and then the file is not judged") {
  const std::vector<std::string> messages = {"c++: fatal error: Killed signal terminated program cc1plus",
                                             "clang: error: unable to execute command: Killed",
                                             "fatal error: error writing to /tmp/x.s: No space left on device"};
  for (const std::string& message : messages) {
    const SmallLab lab;
    CAPTURE(message);
    CHECK_THROWS_AS(lab.compile("echo '" + message + "' >&2; exit 1"), NotJudged);
    CHECK(read_file(lab.calls()) == "called\ncalled\n");
    // Only the first time: the failure is not kept.
    const std::string once = "[ -e " + lab.tree.path() + "/once ] || { touch " + lab.tree.path() + "/once; echo '" +
                             message + "' >&2; exit 1; }; cp $1 $2";
    CHECK_FALSE(lab.compile(once).at("student/pipe.cpp").object.empty());
  }
}

TEST_CASE("a compiler that uses up its CPU time has met a file that asks for too much") {
  const SmallLab lab;
  const CompiledSource endless =
      lab.compile("echo 'c++: fatal error: CPU time limit exceeded signal terminated program cc1plus' >&2; exit 1")
          .at("student/pipe.cpp");
  CHECK(endless.errors.find("CPU time limit") != std::string::npos);
}

TEST_CASE("a build's foreign folders: prefixes, unpacked sources, and what it has downloaded") {
  const launch::RunDirectory build;
  std::ofstream(build.path() + "/CMakeCache.txt")
      << "LAB_LIBTORCH:PATH=/opt/torch\nLAB_PREFIX:PATH=\nLAB_PREFIXES:PATH=/not/this\n"
         "FETCHCONTENT_SOURCE_DIR_GLOO:UNINITIALIZED=/home/a/gloo=1\n# LAB_PREFIX:PATH=/nor/this\n";
  CHECK(foreign_folders(build.path()) == std::vector<std::string>{build.path() + "/_deps", build.path() + "/releases",
                                                                  build.path() + "/unused_libraries", "/opt/torch",
                                                                  "/home/a/gloo=1"});
}

}  // namespace
}  // namespace lab::grading
