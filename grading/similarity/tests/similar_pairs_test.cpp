#include "grading/similarity/similar_pairs.h"

#include "common/testing/plain_test.h"
#include "grading/similarity/matching_spans.h"

namespace {

using namespace lab::grading;

/// Code that is like no other: `count` statements with numbers of its own.
std::string own_code(int seed, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "x = f" + std::to_string(seed) + "(y, " + std::to_string(1000 * seed + i) + ");\n";
  return text;
}

std::vector<ComparedCode> compared(const std::vector<std::string>& texts, const BaseCode& base = BaseCode()) {
  std::vector<ComparedCode> codes;
  for (const std::string& text : texts) codes.push_back(compared_code({{"student/a.cpp", text}}, base));
  return codes;
}

bool all(std::size_t, std::size_t) {
  return true;
}

}  // namespace

TEST_CASE("similar pairs: shares are of each side's own code") {
  const auto pairs = similar_pairs(compared({own_code(1, 40), own_code(1, 40) + own_code(2, 120), own_code(3, 40)}),
                                   SimilarityLimits(), all);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].first == 0);
  CHECK(pairs[0].second == 1);
  CHECK(pairs[0].share_of_first == 1.0);
  CHECK(pairs[0].share_of_second == doctest::Approx(0.25).epsilon(0.05));
  CHECK(pairs[0].is_notable(SimilarityLimits()));
}

TEST_CASE("similar pairs: base code is not compared, and does not hide what is next to it") {
  BaseCode base;
  base.add({{"student/a.cpp", own_code(9, 50)}});
  // What is left is where the base code ends.
  auto pairs = similar_pairs(compared({own_code(9, 50) + own_code(1, 30), own_code(9, 50) + own_code(2, 30)}, base),
                             SimilarityLimits(), all);
  for (const SimilarPair& pair : pairs) CHECK(pair.fingerprints <= 1);
  pairs = similar_pairs(compared({own_code(1, 30) + own_code(9, 50), own_code(9, 50) + own_code(1, 30)}, base),
                        SimilarityLimits(), all);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].share_of_first > 0.9);
}

TEST_CASE("similar pairs: what many have weighs less") {
  std::vector<std::string> texts;
  for (int i = 1; i <= 30; ++i) texts.push_back(own_code(100, 60) + own_code(i, 40));
  const auto of_many = similar_pairs(compared(texts), SimilarityLimits(), all);
  REQUIRE(of_many.size() == 30 * 29 / 2);
  for (const SimilarPair& pair : of_many) CHECK_FALSE(pair.is_notable(SimilarityLimits()));
  const auto of_two = similar_pairs(compared({texts[0], texts[1]}), SimilarityLimits(), all);
  REQUIRE(of_two.size() == 1);
  CHECK(of_two[0].is_notable(SimilarityLimits()));
}

TEST_CASE("similar pairs: what all of a class have the same is found, however large the class") {
  const auto pairs = similar_pairs(compared(std::vector<std::string>(60, own_code(1, 60))), SimilarityLimits(), all);
  REQUIRE(pairs.size() == 60 * 59 / 2);
  for (const SimilarPair& pair : pairs) CHECK(pair.is_notable(SimilarityLimits()));
}

TEST_CASE("similar pairs: a short match is not to be looked at, nor a pair that may be none") {
  const auto codes = compared({own_code(1, 10), own_code(1, 10)});
  const auto pairs = similar_pairs(codes, SimilarityLimits(), all);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].largest_share() == 1.0);
  CHECK_FALSE(pairs[0].is_notable(SimilarityLimits()));
  CHECK(similar_pairs(codes, SimilarityLimits(), [](std::size_t, std::size_t) { return false; }).empty());
  CHECK(similar_pairs(compared({"", ";", "\"", "int x;"}), SimilarityLimits(), all).empty());
  CHECK(similar_pairs({}, SimilarityLimits(), all).empty());
}

TEST_CASE("matching spans: reordered parts are found on both sides, each token once") {
  const auto codes = compared({own_code(1, 20) + own_code(2, 10) + own_code(3, 20), own_code(3, 20) + own_code(1, 20)});
  const std::vector<MatchingSpan> spans = matching_spans(codes[0], codes[1]);
  REQUIRE(spans.size() == 2);
  std::vector<int> uses(codes[0].files[0].tokens.size(), 0);
  for (const MatchingSpan& span : spans) {
    CHECK(span.num_tokens >= 20 * 9 - 2);
    for (std::size_t i = 0; i < span.num_tokens; ++i) {
      ++uses[span.first.token + i];
      CHECK(codes[0].files[0].tokens[span.first.token + i].kind ==
            codes[1].files[0].tokens[span.second.token + i].kind);
    }
  }
  for (const int times : uses) CHECK(times <= 1);
}

TEST_CASE("matching spans: none in the base code; equal hand-ins are one span") {
  BaseCode base;
  base.add({{"student/a.cpp", own_code(9, 50)}});
  const auto given = compared({own_code(9, 50), own_code(9, 50)}, base);
  CHECK(given[0].num_own_tokens() == 0);
  CHECK(matching_spans(given[0], given[1]).empty());
  const auto equal = compared({own_code(1, 30), own_code(1, 30)});
  const std::vector<MatchingSpan> spans = matching_spans(equal[0], equal[1]);
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].num_tokens == equal[0].num_own_tokens());
}

TEST_CASE("matching spans: code that repeats itself without end is compared all the same") {
  std::string table = "int a[] = {";
  for (int i = 0; i < 60000; ++i) table += "1, ";
  const auto codes = compared({table + "};", "int b; " + table + "1};"});
  CHECK_FALSE(matching_spans(codes[0], codes[1]).empty());
}
