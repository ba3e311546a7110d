#include "common/course/check_page.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab::testing {
namespace {

using Texts = std::vector<std::string>;

Texts messages_in(const std::string& output) {
  return compiler_messages(output, "/home/ada/starter");
}

TEST_CASE("an error is shown with its function, source lines and notes, without colours; a warning is not") {
  CHECK(messages_in("[1/3] Building CXX object a0/x.o\n"
                    "FAILED: a0/x.o \n"
                    "/usr/bin/c++ -I/home/ada/starter -c /home/ada/starter/a0_pipes/student/x.cpp\n"
                    "\x1b[01m/home/ada/starter/a0_pipes/student/x.cpp:\x1b[m\x1b[K In function 'int f(int)':\n"
                    "/home/ada/starter/a0_pipes/student/x.cpp:5:7: warning: unused variable 'v' [-Wunused]\n"
                    "    5 |   int v;\n"
                    "      |       ^\n"
                    "/home/ada/starter/a0_pipes/student/x.cpp: In function 'int g(int)':\r\n"
                    "\x1b]8;;file:///x\x1b\\/home/ada/starter/a0_pipes/student/x.cpp:6:10:\x1b]8;;\x1b\\ error: 'y' "
                    "<was> not declared\r\n"
                    "    6 |   return y;\r\n"
                    "      |          ^\r\n"
                    "/home/ada/starter/a0_pipes/pipes.h:3:1: note: declared here\r\n"
                    "/home/ada/starter/a0_pipes/student/x.cpp:9:1: error: expected ';'\n"
                    "ninja: build stopped: subcommand failed.\n"
                    "lab: a0_pipes was not built\n") ==
        Texts{"a0_pipes/student/x.cpp:6:10: error: 'y' <was> not declared\n"
              "a0_pipes/student/x.cpp: In function 'int g(int)':\n"
              "    6 |   return y;\n      |          ^\n"
              "a0_pipes/pipes.h:3:1: note: declared here",
              "a0_pipes/student/x.cpp:9:1: error: expected ';'"});
}

TEST_CASE("headers that lead to an error, templates, and clang's source lines without a margin") {
  CHECK(messages_in("In file included from ../../a0_pipes/student/x.cpp:1:\n"
                    "../../a0_pipes/student/y.h:2:1: error: unknown type name 'foo'\n"
                    "foo bar;\n^\n1 error generated.\n") ==
        Texts{"a0_pipes/student/y.h:2:1: error: unknown type name 'foo'\n"
              "In file included from a0_pipes/student/x.cpp:1:\nfoo bar;\n^"});
  CHECK(
      messages_in("x.cpp: In instantiation of 'T half(T)':\nx.cpp:8:48:   required from here\n"
                  "x.cpp:3:43: error: no member\n") ==
      Texts{"x.cpp:3:43: error: no member\nx.cpp: In instantiation of 'T half(T)':\nx.cpp:8:48:   required from here"});
}

TEST_CASE("what the linker misses is an error, too") {
  CHECK(messages_in("FAILED: bin/a0\n: && /usr/bin/c++ x.o -o a0 && :\n"
                    "/usr/bin/ld: x.o: in function `f()':\nx.cpp:(.text+0x5): undefined reference to `g()'\n"
                    "collect2: error: ld returned 1 exit status\n") ==
        Texts{"x.cpp:(.text+0x5): undefined reference to `g()'\n/usr/bin/ld: x.o: in function `f()':"});
  CHECK(messages_in("ld.lld: error: undefined symbol: g()\n>>> referenced by x.cpp:3\n"
                    "clang: error: linker command failed with exit code 1\n") ==
        Texts{"ld.lld: error: undefined symbol: g()\n>>> referenced by x.cpp:3"});
}

TEST_CASE("what is not such output has no messages, and there is an end to what has many") {
  for (const char* output : {"", "\n\n", "ninja: no work to do.\n", "x.cpp:1:1: warning: w\n", "\xff\xfe\x65\x00"})
    CHECK(messages_in(output).empty());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "x.cpp:1:1: error: e\n" + std::string(2000, 'x') + "\n";
  const Texts messages = messages_in(many);
  REQUIRE(messages.size() == 21);
  CHECK(messages.back() == "and 980 more errors");
  CHECK(messages.front().size() < 600);
  const Texts one = messages_in("x.cpp:1:1: error: e\n" + std::string(100000, '\n'));
  REQUIRE(one.size() == 1);
  CHECK(one.front().size() < 100);
  std::string contexts;
  for (int i = 0; i < 100000; ++i) contexts += "In file included from x.h:1:\n";
  CHECK(messages_in(contexts + "x.cpp:1:1: error: e\n").front().size() < 30000);
}

}  // namespace
}  // namespace lab::testing
