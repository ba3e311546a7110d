#include "grading/compile/build_recipe.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

/// A tree with a lab of one student file, and what CMake and ninja leave of its build.
struct SmallBuild {
  launch::RunDirectory place;
  const std::string root = std::filesystem::canonical(place.path()).string(), build = root + "/build",
                    source = root + "/lab/student/pipe.cpp", object = build + "/pipe.o";

  SmallBuild() {
    for (const char* folder : {"/lab/student", "/build/ranks"}) std::filesystem::create_directories(root + folder);
    std::ofstream(source) << "int pipe() { return 1; }\n";
    std::ofstream(build + "/build.ninja") << "rule link\n"
                                             "  command = : && c++ pipe.o lab_student.a -o $out && :\n"
                                             "build ranks/lab: link\n";
    std::ofstream(build + "/compile_commands.json")
        << R"([{"file": ")" << source << R"(", "command": "c++ -o pipe.o -c )" << source << R"("}])";
    std::ofstream(build + "/ranks/lab") << "linked";
    ProcessSpec compiler;
    compiler.argv = {"c++", "-o", object, "-c", source};
    REQUIRE(run_program(compiler).well());
  }

  void touch(const std::string& file, std::chrono::seconds later) const {
    std::filesystem::last_write_time(file, std::filesystem::last_write_time(object) + later);
  }
  BuildRecipe recipe() const { return load_build_recipe(root, build, "lab"); }
};

TEST_CASE("a recipe has the reference's object, which must be of the file as it is now") {
  const SmallBuild small;
  small.touch(small.source, std::chrono::seconds(-1));
  const BuildRecipe recipe = small.recipe();
  REQUIRE(recipe.sources.size() == 1);
  CHECK(recipe.sources[0].reference_object == small.object);
  CHECK(recipe.sources[0].reference == "int pipe() { return 1; }\n");
  small.touch(small.source, std::chrono::seconds(1));  // as when a mistake was compiled, and then undone
  const std::string changed = testing::get_message<UsageError>([&] { (void)small.recipe(); });
  CHECK(
      testing::contains(changed, "lab/student/pipe.cpp has changed since it was compiled; hint: ./lab build release"));
  small.touch(small.source, std::chrono::seconds(-1));
  std::filesystem::remove(small.object);
  CHECK(testing::contains(testing::get_message<UsageError>([&] { (void)small.recipe(); }), "since it was compiled"));
}

}  // namespace
}  // namespace lab::grading
