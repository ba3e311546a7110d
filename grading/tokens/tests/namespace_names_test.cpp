#include "grading/tokens/namespace_names.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using Names = std::set<std::string>;

/// What the text declares, inside namespaces that are left out here.
Names declared_by(const std::string& text) {
  const NamespaceNames found = namespace_names("namespace lab::a9 {\nnamespace {\n" + text + "\n}\n}\n");
  CHECK(found.is_complete);
  Names names;
  for (const auto& [name, whole] : found.declared) names.insert(name);
  return names;
}

bool is_refused(const std::string& text) {
  return !namespace_names(text).is_complete;
}

TEST_CASE("names that a text may declare in a namespace") {
  CHECK(declared_by("int f(int a) { int b = a; return b; }") == Names{"f"});
  CHECK(declared_by("at::Tensor take_part(const at::Tensor& x, std::int64_t dim = g());") == Names{"take_part"});
  CHECK(declared_by("constexpr std::int64_t kRows = 3, kColumns{4};") == Names{"kRows", "kColumns"});
  CHECK(declared_by("struct Ring : Base { int left; int right() const; } ring;") == Names{"Ring", "Base", "ring"});
  CHECK(declared_by("template <typename T> class Box final { T x; };") == Names{"Box"});
  CHECK(declared_by("using std::min; using Map = std::map<int, int>; using a::b, c::d;") ==
        Names{"min", "Map", "b", "d"});
  CHECK(declared_by("enum class Side : int { kLeft, kRight };") == Names{"Side"});
  CHECK(declared_by("int table[3] = {1, 2, 3};") == Names{"table"});
  CHECK(declared_by("namespace fs = std::filesystem;") == Names{"fs"});
  CHECK(declared_by("void Block::forward() const {} int Block::count = 1;").empty());
  CHECK(declared_by("Block::Block(int a) : Base(a), a_(a), b_{a} { f(); } int g();") == Names{"g"});
  CHECK(namespace_names("using std::min, a::b;").declared.at("min") == "std::min");
  CHECK(declared_by("const auto add = [](int a, int b) { return a + b; };") == Names{"add"});
}

TEST_CASE("all names, and what is included") {
  const auto names = namespace_names(
      "#pragma once\n#include <vector>\n  #  include \"a/b.h\"  // why\n#include \"c.h\"\n/* #define x */ int f(int a) "
      "{ return g(a) + \"h\"[0]; }");
  CHECK(names.is_complete);
  CHECK(names.includes == std::vector<std::string>{"a/b.h", "c.h"});
  CHECK(names.system_includes == std::vector<std::string>{"vector"});
  CHECK(names.used == Names{"int", "f", "a", "return", "g"});
}

TEST_CASE("what no list of names tells is refused") {
  for (const char* text : {"#define f g\n",
                           "#ifdef X\n#endif\n",
                           "#pragma GCC optimize(\"O3\")\n",
                           "#undef f\n",
                           "#include MACRO\n",
                           "#include \"a.h\" int x;\n",
                           "int f\\\n();\n",
                           "/**/ #define f g\n",
                           "%:define f g\n",
                           "int f() <% return 1; %>\n",
                           "int x<:3:>;\n",
                           "_Pragma(\"once\")\n",
                           "using namespace std;\n",
                           "namespace a { using namespace std; }\n",
                           "enum Side { kLeft };\n",
                           "bool operator==(A, B);\n",
                           "extern \"C\" { int f(); }\n",
                           "extern int x;\n",
                           "template <> struct hash<A> {};\n",
                           "template struct A<int>;\n",
                           "typedef int (*F)(int);\n",
                           "int (*f)(int);\n",
                           "auto [a, b] = g();\n",
                           "static union { int a; };\n",
                           "int \xC3\xA4;\n"}) {
    CAPTURE(text);
    CHECK(is_refused(text));
  }
  CHECK_FALSE(
      is_refused("int f() { using namespace std; enum { kA }; int (*g)(int) = h; auto [a, b] = c; return a % b; }"));
  CHECK_FALSE(is_refused("std::vector<::at::Tensor> f(std::string_view x = \"\xC3\xA4#\");  // \xC3\xA4\n"));
  CHECK_THROWS_AS(namespace_names("int f() {\n"), UsageError);
}

}  // namespace
}  // namespace lab::grading
