#include "common/course/audit/lab_audit.h"

#include <filesystem>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab::testing {
namespace {

using Lines = std::vector<std::string>;

constexpr char kNote[] =
    " is not on the list of what student code may use, so whoever grades it has to look first; use instead: the lab's "
    "headers, tensor functions, the C++ library";
constexpr char kInside[] = "use instead: the communicator's send, recv and collectives";

/// A tree with labs that are built in the two ways that CMake has: in a folder of their own, and from the root.
class BuiltTree {
 public:
  BuiltTree() {
    const std::string rules = "/common/course/audit";
    std::filesystem::create_directories(path(rules));
    std::filesystem::copy(std::getenv("LAB_SOURCE_DIR") + rules, path(rules));
  }
  std::string path(const std::string& file) const { return folder_.file(file); }

  static std::string object(const std::string& source) {
    const std::string in_lab = source.substr(source.find('/') + 1);
    return source.rfind("a0_own/", 0) == 0 ? "build/release/a0_own/CMakeFiles/a0_student.dir/" + in_lab + ".o"
                                           : "build/release/CMakeFiles/a1_root.dir/" + source + ".o";
  }
  void compile(const std::string& option, const std::string& source, const std::string& text) const {
    write(source, text);
    std::filesystem::create_directories(std::filesystem::path(path(object(source))).parent_path());
    ProcessSpec compiler;
    compiler.argv = {LAB_COMPILER, option, "-O1", "-c", "-o", path(object(source)), path(source)};
    REQUIRE(run_program(compiler).well());
  }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    write_bytes(path(file), text);
  }
  LabAudit audit(const std::string& lab) const { return audit_lab(folder_.file("."), lab); }

 private:
  TemporaryFolder folder_;
};

std::string refused(const std::string& lab) {
  return "the grading would refuse these files of " + lab + ", and nothing in them would count";
}

TEST_CASE("an object is audited again if it, or a rule, is younger than the last audit that found nothing") {
  const BuiltTree tree;
  const auto use_good = [&](const std::string& argument) {
    tree.compile("-g1", "a0_own/student/user.cpp",
                 "extern \"C\" int fork();\nint good(int);\nint user() { return good(" + argument + "); }\n");
  };
  tree.compile("-g1", "a0_own/student/good.cpp", "int good(int x) { return x; }\n");
  use_good("1");
  CHECK(tree.audit("a0_own").lines.empty());
  use_good("fork()");
  for (int time = 0; time < 2; ++time) CHECK(tree.audit("a0_own").refused.count("a0_own/student/user.cpp") == 1);
  use_good("2");
  CHECK(tree.audit("a0_own").lines.empty());  // also good(), which is defined in a file that is known
  use_good("3");
  CHECK(tree.audit("a0_own").lines.empty());
  tree.write("common/course/audit/forbidden_symbols.txt", "[new] something else\ngood\\(int\\)\n");
  CHECK(tree.audit("a0_own").refused.count("a0_own/student/user.cpp") == 1);
}

TEST_CASE("the audit of a lab names file, line and what to use instead, of the files that are there") {
  const BuiltTree tree;
  CHECK(tree.audit("a0_own").lines.empty());  // not built
  tree.compile("-g1", "a0_own/student/good.cpp", "int good(int x) { return x; }\n");
  tree.compile("-g1", "a0_own/student/deep/helper.cpp", "int help(); int g() { return help(); } int good(int);\n");
  tree.compile("-g1", "a0_own/student/help.cpp", "int help() { return 1; }\n");
  CHECK(tree.audit("a0_own").lines.empty());

  tree.compile("-g1", "a0_own/student/deep/helper.cpp",
               "#include <unistd.h>\nint process() {\n  int number = 1;\n  return number + getpid();\n}\n");
  const std::string note = std::string("a0_own/student/deep/helper.cpp:4: note: getpid") + kNote;
  CHECK(tree.audit("a0_own").lines == Lines{note});
  CHECK(tree.audit("a0_own").refused.empty());
  tree.compile("-g1", "a0_own/student/good.cpp",
               "namespace gloo { void barrier(int); }\n\nint good(int x) {\n  // not gloo::barrier\n  "
               "gloo::barrier(x);\n  return x;\n}\n");
  const std::string barrier =
      std::string("a0_own/student/good.cpp:5: gloo::barrier(int): student code must not use it; ") + kInside;
  CHECK(tree.audit("a0_own").lines == Lines{note, barrier, refused("a0_own")});
  CHECK(tree.audit("a0_own").refused == std::set<std::string>{"a0_own/student/good.cpp"});
  std::filesystem::remove(tree.path("a0_own/student/deep/helper.cpp"));  // its object stays, and does not count
  CHECK(tree.audit("a0_own").lines == Lines{barrier, refused("a0_own")});
}

TEST_CASE("without line numbers in the object, the audit names the line that has the name, or the file") {
  const BuiltTree tree;
  const std::string file = "a1_root/student/forks.cpp";
  const std::string fork = ": fork: student code must not use it; use instead: the ranks that the lab starts";
  tree.compile("-g0", file, "int forks() __asm__(\"fork\");\nint f() { return forks(); }\n");
  CHECK(tree.audit("a1_root").lines == Lines{file + ":1" + fork, refused("a1_root")});
  tree.compile("-g0", file,
               "#define JOINED(a, b) a##b\nextern \"C\" int JOINED(fo, rk)();\nint f() { return JOINED(fo, rk)(); }\n");
  CHECK(tree.audit("a1_root").lines == Lines{file + fork, refused("a1_root")});
}

TEST_CASE("the audit names what uses files, which a judged rank does not have, in the lines of the students") {
  const BuiltTree tree;
  const std::string file = "a1_root/student/forks.cpp";
  tree.write("torch.h",
             "#include <string>\nnamespace torch {\n"
             "namespace serialize { struct OutputArchive { void save_to(const std::string& file); }; }\n"
             "inline void save(int, const std::string& f) { serialize::OutputArchive().save_to(f); }\n}\n");
  tree.compile("-g1", file,
               "#include <filesystem>\n#include <fstream>\n#include \"../../torch.h\"\n"
               "void f() { std::filebuf().open(\"debug.txt\", std::ios::out); }\n"
               "void h() { torch::save(1, \"outputs.pt\"); }\n"
               "bool i() { return std::filesystem::exists(\"debug\"); }\n");
  const std::string instead =
      ": student code must not use it; use instead: std::cout to print, or a std::stringstream, also for torch::save "
      "and "
      "torch::load: no file can be opened where this is graded";
  CHECK(tree.audit("a1_root").lines ==
        Lines{file + ":6: std::filesystem::status(std::filesystem::__cxx11::path const&)" + instead,
              file +
                  ":5: torch::serialize::OutputArchive::save_to(std::__cxx11::basic_string<char, "
                  "std::char_traits<char>, std::allocator<char> > const&)" +
                  instead,
              file + ":4: note: std::basic_filebuf<char, std::char_traits<char> >::open(char const*, "
                     "std::_Ios_Openmode); use instead: std::cout, since a file cannot be opened where this is graded",
              refused("a1_root")});
  tree.write(tree.object(file), "text");
  CHECK_THROWS_WITH_AS(
      tree.audit("a1_root"),
      ("these files cannot be read: nm: " + tree.path("./" + tree.object(file)) + ": file format not recognized")
          .c_str(),
      UsageError);
}

}  // namespace
}  // namespace lab::testing
