#include "grading/compile/one_unit.h"

#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

std::optional<std::string> header(const std::string& path) {
  const std::map<std::string, std::string> headers = {
      {"common/always.h", "#include \"common/slice.h\"\n"},
      {"common/slice.h", "struct Slice { int begin; };\nSlice even_slice(int size);\n"},
      {"lab/ring.h", "#include \"lab/types.h\"\nvoid ring(int rank);\n"},
      {"lab/direct.h", "void direct(int rank);\nint plan_rounds(int size);\n"},
      {"lab/types.h", "using Rank = int;\n"}};
  const auto found = headers.find(path);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

/// Two files of a lab whose reference defines ring() and direct().
bool are_one(const std::string& ring, const std::string& direct) {
  const auto units =
      list_units({{"lab/student/ring.cpp", {ring, "#include \"lab/ring.h\"\nvoid ring(int rank) {}\n"}},
                  {"lab/student/direct.cpp", {direct, "#include \"lab/direct.h\"\nvoid direct(int) {}\n"}}},
                 header, "common/always.h");
  return units.size() == 1;
}

const std::string kRing = "#include \"lab/ring.h\"\nvoid ring(int rank) { even_slice(rank); }\n";
const std::string kDirect = "#include \"lab/direct.h\"\nvoid direct(int rank) { even_slice(rank); }\n";

TEST_CASE("files that do not know each other are one unit") {
  CHECK(are_one(kRing, kDirect));
  CHECK(are_one(kRing + "namespace { int left(int rank) { return rank - 1; } }\n", kDirect));
  // Each other's promises are known by their headers, and so is what relative paths include.
  CHECK(are_one(kRing, "#include \"../direct.h\"\n#include \"../ring.h\"\nvoid direct(int rank) { ring(rank); }\n"));
}

TEST_CASE("a name of one file that the other uses, too, keeps them apart") {
  const std::string helper = "namespace { int part(double x) { return 1; } }\n";
  CHECK_FALSE(are_one(kRing + helper, kDirect + "namespace { int part(int x) { return 2; } }\n"));
  CHECK_FALSE(are_one(kRing + helper, kDirect + "int f(int part) { return part; }\n"));
  CHECK_FALSE(are_one(kRing + "namespace { int even_slice(long size) { return 1; } }\n", kDirect));
  // Another overload of what somebody else promises.
  CHECK_FALSE(are_one(kRing + "void direct(long rank) {}\n", kDirect));
}

TEST_CASE("a header that only one file includes must mean nothing to the other") {
  CHECK_FALSE(are_one(kRing + "int f() { return plan_rounds(3); }\n", kDirect));
  CHECK_FALSE(are_one(kRing, kDirect + "int f(int Rank) { return Rank; }\n"));
  CHECK_FALSE(are_one(kRing, kDirect + "#include \"lab/none.h\"\n"));
}

TEST_CASE("what cannot be known keeps them apart") {
  CHECK_FALSE(are_one("#define even_slice odd_slice\n" + kRing, kDirect));
  CHECK_FALSE(are_one(kRing + "int f( {\n", kDirect));
}

TEST_CASE("files that cannot be one unit are as few as it takes") {
  const std::string helper = "namespace { int part(int x) { return 1; } }\n";
  const auto units = list_units({{"lab/student/a.cpp", {helper, ""}},
                                 {"lab/student/b.cpp", {"int b;\n", ""}},
                                 {"lab/student/c.cpp", {helper, ""}},
                                 {"lab/student/d.cpp", {"#define D\n", ""}},
                                 {"lab/student/e.cpp", {"int e(int b) { return b; }\n", ""}}},
                                header, "common/always.h");
  const std::vector<std::set<std::string>> expected = {
      {"lab/student/a.cpp", "lab/student/b.cpp"}, {"lab/student/c.cpp", "lab/student/e.cpp"}, {"lab/student/d.cpp"}};
  CHECK(units == expected);
}

TEST_CASE("a file may need what another one includes, unless that is precompiled or its own") {
  using Paths = std::set<std::string>;
  const std::set<std::string> precompiled = {"/usr/include/c++/12/deque", "/usr/include/c++/12/bits/move.h",
                                             "/usr/include/ATen/ATen.h"};
  const auto in_doubt = [&](const std::string& direct, const std::string& ring) {
    return may_need_headers_of_others({{"direct.cpp", {direct + kDirect, ""}}, {"ring.cpp", {ring + kRing, ""}}},
                                      precompiled);
  };
  CHECK(in_doubt("", "").empty());
  CHECK(in_doubt("", "#include <deque>\n # include <ATen/ATen.h> // all of it\n").empty());
  CHECK(in_doubt("", "#include <deque>\n#include <queue>\n") == Paths{"direct.cpp"});
  CHECK(in_doubt("", "#include <eque>\n") == Paths{"direct.cpp"});
  CHECK(in_doubt("#include <queue>\n", "#include <queue>\n").empty());
  CHECK(in_doubt("#include <list>\n#include <queue>\n", "#include <queue>\n") == Paths{"ring.cpp"});
  CHECK(in_doubt("#include <list>\n", "#include <queue>\n") == Paths{"direct.cpp", "ring.cpp"});
  const std::map<std::string, UnitFile> deque_in_one = {{"direct.cpp", {kDirect, ""}},
                                                        {"ring.cpp", {"#include <deque>\n", ""}}};
  CHECK(may_need_headers_of_others(deque_in_one, {}) == Paths{"direct.cpp"});
}

}  // namespace
}  // namespace lab::grading
