#include <chrono>
#include <filesystem>
#include <fstream>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "grading/compile/build_recipe.h"
#include "grading/compile/compiler.h"
#include "grading/compile/symbol_audit.h"

namespace lab::grading {
namespace {

using Names = std::set<std::string>;
using Lines = std::vector<std::string>;

TEST_CASE("first errors: a compiler's, without the warnings before them") {
  CHECK(first_errors(
            "In file included from a.cpp:1:\na.cpp:3:7: warning: unused\na.cpp:4:1: error: no type\n    4 | x\n") ==
        "a.cpp:4:1: error: no type\n    4 | x\n");
}

TEST_CASE("first errors: what each linker says of a function that is missing") {
  const auto shown = [](const std::string& output) { return first_errors("a warning of something else\n" + output); };
  const std::string last = "collect2: error: ld returned 1 exit status\n";
  CHECK(shown("/usr/bin/ld: /tmp/a.o: in function `g(int)':\na.cpp:(.text+0x12): undefined reference to `f(int)'\n" +
              last) == "a.cpp:(.text+0x12): undefined reference to `f(int)'\n" + last);
  CHECK(shown("/usr/bin/ld: /tmp/b.o: in function `g(int)':\nb.cpp:(.text+0x0): multiple definition of `g(int)'; "
              "/tmp/a.o:a.cpp:(.text+0x0): first defined here\n" +
              last) ==
        "b.cpp:(.text+0x0): multiple definition of `g(int)'; /tmp/a.o:a.cpp:(.text+0x0): first defined here\n" + last);
  CHECK(shown("ld.lld: error: undefined symbol: f(int)\n>>> referenced by a.cpp\n" + last) ==
        "ld.lld: error: undefined symbol: f(int)\n>>> referenced by a.cpp\n" + last);
}

TEST_CASE("first errors: no more than a reader wants, and something where no line says error") {
  std::string many;
  for (int i = 0; i < 40; ++i) many += "error: " + std::string(1000, 'x') + "\n";
  CHECK(first_errors(many).size() == 12 * 301);
  CHECK(first_errors("killed\n" + std::string(2000, 'x')).size() == 1000);
  CHECK(first_errors("").empty());
}

constexpr char kPrinted[] =
    "/store/a.o: forbidden: fork; use instead: the ranks that the lab starts\n"
    "/store/a.o: forbidden: std::thread::detach(); use instead: isend and irecv\n"
    "/store/a.o: unlisted: open\n"
    "/store/b.o: unlisted: at::Context::setBenchmarkCuDNN\n"
    "/store/b.o: unlisted: std::x: forbidden: y\n"
    "/store/b.other: forbidden: exit; use instead: an exception\n";

TEST_CASE("what the audit prints is read object by object, without its hints") {
  const auto found = parse_symbol_audit(kPrinted, {"/store/a.o", "/store/b.o", "/store/clean.o"});
  REQUIRE(found.size() == 2);
  CHECK(found.at("/store/a.o").forbidden == Lines{"fork", "std::thread::detach()"});
  CHECK(found.at("/store/a.o").unlisted == Names{"open"});
  CHECK(found.at("/store/b.o").forbidden.empty());
  CHECK(found.at("/store/b.o").unlisted == Names{"at::Context::setBenchmarkCuDNN", "std::x: forbidden: y"});
}

TEST_CASE("nothing printed is nothing found") {
  CHECK(parse_symbol_audit("", {"/store/a.o"}).empty());
}

TEST_CASE("an instructor accepts symbols by name, or all") {
  const Names unlisted = {"open", "at::set_num_threads"};
  CHECK(AcceptedSymbols().others(unlisted) == unlisted);
  CHECK(AcceptedSymbols("open").others(unlisted) == Names{"at::set_num_threads"});
  CHECK(AcceptedSymbols("open, at::set_num_threads,more").others(unlisted).empty());
  CHECK(AcceptedSymbols("*").others(unlisted).empty());
  CHECK(AcceptedSymbols("op*").others(unlisted) == unlisted);
}

TEST_CASE("a name that is missing is a usage error") {
  CHECK_THROWS_AS(AcceptedSymbols("open,,close"), UsageError);
  CHECK_THROWS_AS(AcceptedSymbols(" "), UsageError);
}

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
