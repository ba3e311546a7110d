#include "grading/compile/replace_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"
#include "grading/compile/student_build.h"

namespace lab::grading {
namespace {

using Texts = std::map<std::string, std::string>;

constexpr char kPart[] = "student/part.cpp", kWhole[] = "student/whole.cpp";

std::string file_with(const std::string& definitions) {
  return "#include \"common/declared.h\"\nnamespace lab::toy {\n" + definitions + "\n}\n";
}

const std::string kMain =
    "#include \"common/declared.h\"\n"
    "int main(int argc, char**) { try { return lab::toy::whole(argc); } catch (int) { return 99; } }\n";
// whole() returns 12, or 3 where part() throws.
const Texts kReference = {
    {kPart, file_with("int part(int n) { if (n > 1) throw n; return 2; }")},
    {kWhole, file_with("int whole(int n) { try { return 10 + part(n); } catch (int) { return 3; } }")}};

/// A lab of two student files, one of which calls the other's function, compiled with all that optimisation knows.
class TwoFiles {
 public:
  TwoFiles() {
    const std::string& root = recipe_.root = tree_.path();
    recipe_.lab = "lab";
    recipe_.folder = root + "/build";
    for (const char* folder : {"/common/pch", "/common/course", "/lab/student", "/build/CMakeFiles", "/build/bin"})
      std::filesystem::create_directories(root + folder);
    const char* const suite = std::getenv("LAB_SOURCE_DIR");
    REQUIRE_MESSAGE(suite != nullptr, "LAB_SOURCE_DIR: where the sources are");
    std::filesystem::create_symlink(std::string(suite) + "/common/course/audit", root + "/common/course/audit");
    const char* const programs = std::getenv("LAB_BIN_DIR");
    REQUIRE_MESSAGE(programs != nullptr, "LAB_BIN_DIR: where labaudit is");
    std::filesystem::create_symlink(std::string(programs) + "/labaudit", root + "/build/bin/labaudit");
    write("/common/pch/student.h", "");
    write("/common/declared.h", "#pragma once\nnamespace lab::toy {\nint part(int n);\nint whole(int n);\n}\n");
    write("/compiler", fmt::format("echo called >>{}/calls\nexec c++ \"$@\"\n", root));
    recipe_.precompiled = {root + "/common/pch/student.h"};
    for (const auto& [name, text] : kReference) {
      StudentSource source{name,
                           text,
                           "",
                           {"sh", root + "/compiler", "-O2", "-fPIC", "-fsemantic-interposition", "-I.", "-c",
                            kSourcePlace, "-o", kObjectPlace},
                           ""};
      source.reference_object = root + "/build/" + std::to_string(recipe_.sources.size()) + ".o";
      compile("lab/" + name, text, source.reference_object);
      recipe_.sources.push_back(source);
    }
    compile("main.cpp", kMain, root + "/build/main.o");
    recipe_.link = {"c++", "-o", kProgramPlace, "main.o", kObjectsPlace};
  }

  StudentBuild build(const Texts& texts) const { return builder().build(texts); }
  StudentBuild build_again(const StudentBuild& whole, const Texts& texts,
                           const std::set<std::string>& reference) const {
    return builder().build_again(whole, texts, reference);
  }
  std::size_t num_compiled() const { return list_lines(read_file(tree_.path() + "/calls")).size(); }

 private:
  StudentBuilder builder() const { return StudentBuilder(recipe_, store_, sandbox_); }
  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(tree_.path() + "/" + path, text);
  }
  void compile(const std::string& path, const std::string& text, const std::string& object) const {
    write(path, text);
    ProcessSpec compiler;
    compiler.argv = {"c++", "-O2", "-I.", "-c", path, "-o", object};
    compiler.folder = tree_.path();
    REQUIRE(run_program(compiler).well());
  }

  launch::RunDirectory tree_;
  Sandbox sandbox_ = Sandbox::detect(false);  // the compiler counts its calls outside of its folder
  ObjectStore store_{tree_.path() + "/objects", sandbox_};
  BuildRecipe recipe_;
};

int run_and_get_result(const StudentBuild& build, bool with_argument = false) {
  ProcessSpec program;
  program.argv = {build.program};
  if (with_argument) program.argv.emplace_back("argument");
  return exit_code_of_status(run_program(program).status);
}

/// The reference with another file, and each file different from it by a comment.
Texts texts_with(const std::string& name, const std::string& definitions) {
  Texts texts = kReference;
  texts[name] = file_with(definitions);
  for (auto& [file, all] : texts) all += "// handed in\n";
  return texts;
}

TEST_CASE("the reference takes a file's place in a unit without compiling, whatever the compiler knew of the file") {
  const TwoFiles lab;
  const Texts texts = texts_with(kPart, "int part(int) { return 7; }");  // it cannot throw, and is constant
  const StudentBuild whole = lab.build(texts);
  REQUIRE(whole.objects.size() == 1);
  CHECK(run_and_get_result(whole) == 17);
  const std::size_t num_compiled = lab.num_compiled();
  const StudentBuild again = lab.build_again(whole, texts, {kPart});
  CHECK(lab.num_compiled() == num_compiled);
  CHECK(run_and_get_result(again) == 12);
  CHECK(run_and_get_result(again, true) == 3);
  CHECK(again.changed == std::set<std::string>{kWhole});
  CHECK(run_and_get_result(lab.build_again(whole, texts, {kPart, kWhole})) == 12);
  CHECK(lab.num_compiled() == num_compiled);
  CHECK(run_and_get_result(whole) == 17);
}

TEST_CASE("a unit that defines more than the reference, or runs code before main(), is compiled again") {
  for (const char* more : {"int helper() { return 7; } int part(int) { return helper(); }",
                           "static int seven_at_start() { volatile int seven = 7; return seven; } "
                           "static const int kSeven = seven_at_start(); int part(int) { return kSeven; }"}) {
    const TwoFiles lab;
    const Texts texts = texts_with(kPart, more);
    const StudentBuild whole = lab.build(texts);
    CHECK(run_and_get_result(whole) == 17);
    const std::size_t num_compiled = lab.num_compiled();
    const StudentBuild again = lab.build_again(whole, texts, {kPart});
    CHECK(lab.num_compiled() > num_compiled);
    CHECK(run_and_get_result(again) == 12);
  }
}

}  // namespace
}  // namespace lab::grading
