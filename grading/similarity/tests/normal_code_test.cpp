#include "grading/similarity/normal_code.h"

#include "common/testing/plain_test.h"

namespace {

using namespace lab::grading;

using Kinds = std::vector<std::uint64_t>;

Kinds kinds_in(const std::string& text) {
  Kinds kinds;
  const std::vector<NormalFile> files = normal_code({{"a.cpp", text}});
  for (const NormalToken& token : files.at(0).tokens) kinds.push_back(token.kind);
  return kinds;
}

}  // namespace

TEST_CASE("normal code: what a disguise changes is the same") {
  CHECK(kinds_in("const at::Tensor sum = at::add(x, 1);") == kinds_in("auto s=add(y,1); // add"));
  CHECK(kinds_in("auto s=add(y,1);").size() == 10);
  CHECK(kinds_in("if (a) { return b; }") == kinds_in("if (a)\r\n\treturn c;"));
  CHECK(kinds_in("std::int64_t n = x.size(0);") == kinds_in("int count = tensor.size(0);"));
  CHECK(kinds_in("throw Error(\"no\");") == kinds_in("throw Error(\"not at all\");"));
  CHECK(kinds_in("#include <a>\n#define B 1\nint c;") == kinds_in("int c;"));
}

TEST_CASE("normal code: functions of one's own may be renamed, also methods, lambdas and across files") {
  CHECK(kinds_in("int twice(int x) { return 2 * x; } int f(int y) { return twice(y); }") ==
        kinds_in("int doubled(int x) { return 2 * x; } int f(int y) { return doubled(y); }"));
  CHECK(kinds_in("auto next = [&](int r) { return r + 1; }; g(next(3));") ==
        kinds_in("auto after = [&](int r) { return r + 1; }; g(after(3));"));
  CHECK(kinds_in("struct A { int one() const { return 1; } }; int f(A a) { return a.one(); }") ==
        kinds_in("struct B { int two() const { return 1; } }; int g(B b) { return b.two(); }"));
  const auto first = normal_code({{"a.cpp", "int help(int x) { return x; }"}, {"b.cpp", "int y = help(1);"}});
  const auto second = normal_code({{"a.cpp", "int assist(int x) { return x; }"}, {"b.cpp", "int y = assist(1);"}});
  REQUIRE(first.at(1).tokens.size() == second.at(1).tokens.size());
  for (std::size_t i = 0; i < first.at(1).tokens.size(); ++i)
    CHECK(first[1].tokens[i].kind == second[1].tokens[i].kind);
}

TEST_CASE("normal code: what is called, and with which numbers, is not") {
  CHECK(kinds_in("x = at::add(y, 1);") != kinds_in("x = at::mul(y, 1);"));
  CHECK(kinds_in("x = at::add(y, 1);") != kinds_in("x = at::add(y, 2);"));
  CHECK(kinds_in("p2p.send(x, 1);") != kinds_in("p2p.recv(x, 1);"));
  CHECK(kinds_in("f(Operation::kSend);") != kinds_in("f(Operation::kReceive);"));
  CHECK(kinds_in("if (a) b = c;") != kinds_in("while (a) b = c;"));
}

TEST_CASE("normal code: tables of constants are left out, but not what a student has computed or called") {
  CHECK(kinds_in("const std::vector<Row> t = {{2, 4 * kKiB, \"ring\"}, {4, kAnySize, \"direct\"}}; f(t);") ==
        kinds_in("const std::vector<Row> t = {}; f(t);"));
  CHECK(kinds_in("Row t[] = {{2, kMany, \"ring\"}}; f(t);") == kinds_in("Row t[] = {{-1, 3 << 10}, {5, 6}}; f(t);"));
  CHECK(kinds_in("f({{left, 1}, {right, 2}});") != kinds_in("f({{left, 1}});"));
  CHECK(kinds_in("f({{g(1), 2}});") != kinds_in("f({{h(1), 2}});"));
  CHECK(kinds_in("at::zeros({2, 3});") != kinds_in("at::zeros({3, 2});"));
}

TEST_CASE("normal code: places are those of the text") {
  const std::vector<NormalFile> files = normal_code({{"a.cpp", "// x\nint sum = f(1);"}});
  const NormalFile& file = files.at(0);
  REQUIRE(file.tokens.size() == 8);
  CHECK(file.text.substr(file.tokens[3].begin, file.tokens[3].end - file.tokens[3].begin) == "f");
  CHECK(file.tokens[3].line == 2);
}

TEST_CASE("normal code: any text is taken, C++ or not") {
  const std::vector<std::string> texts = {"",
                                          " ",
                                          "x",
                                          "/*",
                                          "\"",
                                          "'",
                                          "R\"",
                                          "R\"x(",
                                          "R\"x(a)y\"",
                                          "((((",
                                          "))))",
                                          "([)]",
                                          "f(",
                                          "int f(",
                                          "::",
                                          "a::",
                                          ".",
                                          "#",
                                          "#define \\",
                                          "\\",
                                          "\xe2\x80\xae = \xc3\xa4;",
                                          std::string("a\0b", 3),
                                          "{{",
                                          "{{1}",
                                          "f(}\n#if 0\ndon't\n#endif\nint x = 1;"};
  for (const std::string& text : texts) {
    const NormalFile file = normal_code({{"a.cpp", text}}).at(0);
    for (const NormalToken& token : file.tokens) CHECK((token.begin < token.end && token.end <= text.size()));
  }
  // What the preprocessor leaves out must not hide the rest.
  CHECK(kinds_in("#if 0\ndon't\n#endif\nint x = 1;").size() >= 5);
  CHECK(kinds_in("#if 0\n{\n#endif\nint x = f(1);") == kinds_in("int x = f(1);"));
}
