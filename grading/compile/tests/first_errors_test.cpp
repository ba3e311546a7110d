#include "common/testing/plain_test.h"
#include "grading/compile/compiler.h"

namespace lab::grading {
namespace {

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

}  // namespace
}  // namespace lab::grading
