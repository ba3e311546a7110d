#include "grading/mutants/generated/statements.h"

#include "common/testing/plain_test.h"

namespace {

using namespace lab::grading::generated;
using Kind = Statement::Kind;

/// A text with its statements.
struct Cut {
  explicit Cut(const std::string& source) : text(source), all(statements_of(text, 0, text.size())) {}

  std::string source(std::size_t i) const { return text.line_of(all[i].begin, all[i].end); }
  std::string slot(std::size_t i, std::size_t which) const {
    const Slot& one = all[i].slots.at(which);
    return text.line_of(one.begin, one.end);
  }

  TokenizedText text;
  std::vector<Statement> all;
};

}  // namespace

TEST_CASE("generated statements: kinds, with what they hold") {
  const Cut cut("if (a < b) { c(); } else d = 1; for (int i = 0, n = f(x, y); i < n; ++i) g(i); return h;");
  REQUIRE(cut.all.size() == 7);
  CHECK(cut.all[0].kind == Kind::kIf);
  CHECK(cut.slot(0, 0) == "a < b");
  CHECK(cut.all[1].kind == Kind::kBlock);
  CHECK(cut.source(2) == "c();");
  CHECK(cut.all[2].parent == 1);
  CHECK(cut.all[2].listed);
  CHECK(cut.source(3) == "d = 1;");
  CHECK_FALSE(cut.all[3].listed);
  CHECK(cut.all[4].kind == Kind::kFor);
  CHECK(cut.slot(4, 0) == "0");
  CHECK(cut.slot(4, 1) == "f(x, y)");
  CHECK(cut.slot(4, 2) == "i < n");
  CHECK(cut.slot(4, 3) == "++i");
  CHECK(cut.all[6].kind == Kind::kReturn);
}

TEST_CASE("generated statements: declarations and their initialisers") {
  const Cut cut(
      "const std::vector<std::map<int, int>>& a = f(1, 2), b = g; std::vector<int> c(n, {1}); T d = {1, 2};"
      "auto [e, h] = pair; a * b; x.y(z); std::int64_t i; Foo j{k};");
  REQUIRE(cut.all.size() == 8);
  CHECK(cut.all[0].type == "std::vector<std::map<int, int>>");
  CHECK(cut.all[0].is_reference);
  CHECK(cut.all[0].names == std::vector<std::string>{"a", "b"});
  CHECK(cut.slot(0, 0) == "f(1, 2)");
  CHECK(cut.slot(0, 1) == "g");
  CHECK(cut.all[1].slots.size() == 1);
  CHECK(cut.slot(1, 0) == "n");
  CHECK(cut.all[2].slots[0].kind == Slot::Kind::kBraces);
  CHECK(cut.all[3].kind == Kind::kDeclaration);
  CHECK(cut.all[4].kind == Kind::kExpression);
  CHECK(cut.all[5].kind == Kind::kExpression);
  CHECK(cut.all[6].slots.empty());
  CHECK(cut.all[7].slots[0].kind == Slot::Kind::kArgument);
}

TEST_CASE("generated statements: lambdas' bodies are statements, too") {
  const Cut cut("const auto f = [&](int i) -> int { return v[i]; }; g([] { h(); }, v[0]);");
  REQUIRE(cut.all.size() == 4);
  CHECK(cut.all[0].slots.empty());  // a lambda cannot be chosen at run time
  CHECK(cut.source(1) == "return v[i];");
  CHECK(cut.all[1].parent == 0);
  CHECK(cut.source(3) == "h();");
  CHECK(cut.all[3].parent == 2);
}

TEST_CASE("generated statements: loops over ranges, switch, labels") {
  const Cut cut("for (auto& [a, b] : c) d(a); switch (e) { case E::kOne: f(); break; default: g(); }");
  CHECK(cut.all[0].kind == Kind::kRangeFor);
  CHECK(cut.all[0].slots.empty());
  CHECK(cut.all[2].kind == Kind::kSwitch);
  CHECK(cut.all[4].kind == Kind::kLabel);
  CHECK(cut.source(4) == "case E::kOne:");
  CHECK(cut.all[6].kind == Kind::kJump);
}
