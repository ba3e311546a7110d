#include "grading/tokens/tokens.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"

namespace {

using namespace lab::grading;

std::vector<std::string> tokens_in(const std::string& text) {
  const TokenizedText tokens(text);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) found.emplace_back(tokens.at(i));
  return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("generated tokens: comments, strings and preprocessor lines") {
  CHECK(tokens_in("a // b \"c\n/* d ) */ e") == Texts{"a", "e"});
  CHECK(tokens_in("f(\"a // \\\" b\", 'x', '\\'')") ==
        Texts{"f", "(", "\"a // \\\" b\"", ",", "'x'", ",", "'\\''", ")"});
  CHECK(tokens_in("x = R\"(a ) \" b)\";") == Texts{"x", "=", "R\"(a ) \" b)\"", ";"});
  CHECK(tokens_in("u8R\"z()\" )z\" y") == Texts{"u8R\"z()\" )z\"", "y"});
  CHECK(tokens_in("#include <a>\n#define B \\\n  ( \nc") == Texts{"c"});
}

TEST_CASE("generated tokens: numbers and operators") {
  CHECK(tokens_in("1'000 + 1e-5f*.5") == Texts{"1'000", "+", "1e-5f", "*", ".5"});
  CHECK(tokens_in("a->b::c += d << 2") == Texts{"a", "->", "b", "::", "c", "+=", "d", "<<", "2"});
  CHECK(tokens_in("std::vector<std::vector<int>> v") ==
        Texts{"std", "::", "vector", "<", "std", "::", "vector", "<", "int", ">", ">", "v"});
}

TEST_CASE("generated tokens: lines, white space around, partners of brackets") {
  const TokenizedText text("a(b[1]) -\n c");
  CHECK(text.is(1, "("));
  CHECK(text[1].partner == 6);
  CHECK(text[6].partner == 1);
  CHECK(text[3].partner == 5);
  CHECK(text.is(7, "-"));
  CHECK(text[7].spaced);
  CHECK_FALSE(text[1].spaced);
  CHECK(text[8].line == 2);
  CHECK(text.make_line(0, text.size()) == "a(b[1]) - c");
}

TEST_CASE("generated tokens: what is not C++ is refused with its line") {
  CHECK_THROWS_WITH_AS(TokenizedText("a\n\"b\n"), "line 2: a string without an end", lab::UsageError);
  CHECK_THROWS_WITH_AS(TokenizedText("/* a"), "line 1: a comment without an end", lab::UsageError);
  CHECK_THROWS_WITH_AS(TokenizedText("(\n]"), "line 2: a bracket that closes none", lab::UsageError);
  CHECK_THROWS_WITH_AS(TokenizedText("f(("), "line 1: a bracket that is never closed", lab::UsageError);
}

TEST_CASE("generated tokens: ... unless it is taken") {
  const auto taken = [](const std::string& text) {
    const TokenizedText tokens(text, Unfinished::kTaken);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < tokens.size(); ++i) found.emplace_back(tokens.at(i));
    return found;
  };
  CHECK(taken("a\n\"b\nc") == Texts{"a", "\"b", "c"});
  CHECK(taken("\"b\\") == Texts{"\"b\\"});
  CHECK(taken("a /* b") == Texts{"a"});
  CHECK(taken("R\"x(b") == Texts{"R\"x(b"});
  CHECK(taken("R\"x") == Texts{"R\"x"});
  const TokenizedText brackets("(] f(x) [", Unfinished::kTaken);
  CHECK(brackets[0].partner == 0);
  CHECK(brackets[1].partner == 1);
  CHECK(brackets[3].partner == 5);
  CHECK(brackets[6].partner == 6);
}
