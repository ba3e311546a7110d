#include "grading/similarity/tests/corpus.h"

#include <algorithm>

#include "common/testing/plain_test.h"
#include "grading/similarity/lab_similarity.h"

// Precision and recall of what is called a pair to look at, with the limits that `lab similar` has by default.
namespace {

using namespace lab::grading;

using GivenLines = std::map<std::string, std::set<std::string>>;

/// Two hand-ins for a lab, and what they have in common.
LabSimilarity compared(const Files& first, const Files& second, const std::set<std::string>& given) {
  static const Sandbox sandbox = Sandbox::detect(false);
  PlannedHandIn one, other;
  one.who = "one";
  other.who = "other";
  return compare_lab("lab", {{&one, first}, {&other, second}}, given, sandbox);
}

SimilarPair pair_of(const Files& first, const Files& second, const std::set<std::string>& given) {
  const std::vector<SimilarPair> pairs = compared(first, second, given).pairs;
  return pairs.empty() ? SimilarPair() : pairs[0];
}

struct Found {
  int notable = 0, pairs = 0, above_share = 0;
  double least_share = 1, largest_share = 0;

  void add(const std::string& name, const SimilarPair& pair) {
    CAPTURE(name);
    ++pairs;
    notable += pair.is_notable(SimilarityLimits()) ? 1 : 0;
    above_share += pair.largest_share() >= SimilarityLimits().share ? 1 : 0;
    least_share = std::min(least_share, pair.largest_share());
    largest_share = std::max(largest_share, pair.largest_share());
  }
};

Found found_in(const std::vector<IndependentPair>& pairs, const GivenLines& given) {
  Found found;
  for (const IndependentPair& pair : pairs) found.add(pair.name, pair_of(pair.first, pair.second, given.at(pair.lab)));
  return found;
}

}  // namespace

TEST_CASE("recall: every disguised copy of a whole lab is found") {
  const GivenLines given = given_lines(source_dir());
  Found found;
  for (const auto& [lab, files] : references()) {
    for (const Disguise& disguise : disguises()) {
      const Files copy = disguise.apply(files);
      CHECK(copy != files);
      found.add(lab + ", " + disguise.name, pair_of(files, copy, given.at(lab)));
    }
  }
  CHECK(found.pairs == 5 * 8);
  CHECK(found.notable == found.pairs);
  CHECK(found.least_share > 0.5);  // 0.58: all disguises at once
}

TEST_CASE("recall: a copy of every other file, among those that are one's own") {
  const GivenLines given = given_lines(source_dir());
  const std::map<std::string, Files> all = references();
  int found = 0, pairs = 0;
  for (const IndependentPair& pair : whole_solutions()) {
    if (pair.first != all.at(pair.lab)) continue;
    const Files copy = disguises().front().apply(pair.first);
    for (const std::size_t odd : {0, 1}) {
      Files mixed = pair.second;
      std::size_t i = 0;
      for (auto& [name, text] : mixed) {
        if (i++ % 2 == odd) text = copy.at(name);
      }
      ++pairs;
      found += pair_of(pair.first, mixed, given.at(pair.lab)).is_notable(SimilarityLimits()) ? 1 : 0;
    }
  }
  CHECK(pairs == 8);
  CHECK(found == 8);
}

TEST_CASE("precision: whole labs that were written independently are not") {
  const Found found = found_in(whole_solutions(), given_lines(source_dir()));
  CHECK(found.pairs == 2 * 3);
  CHECK(found.notable == 0);
  CHECK(found.largest_share < 0.3);  // 0.24
}

TEST_CASE("precision: nor are single tasks that were solved in another way, or by another algorithm") {
  const GivenLines given = given_lines(source_dir());
  const Found variants = found_in(variants_and_references(), given);
  CHECK(variants.pairs > 20);
  CHECK(variants.notable == 0);
  // By their share alone, some would be: a task has few ways to write it, and some variants are small changes.
  CHECK(variants.above_share > 0);
  const Found algorithms = found_in(algorithms_of_a_collective(), given);
  CHECK(algorithms.pairs > 50);
  CHECK(algorithms.notable == 0);
  CHECK(algorithms.above_share > 0);
}

TEST_CASE("a starter that nobody has worked on has nothing of its own") {
  const GivenLines given = given_lines(source_dir());
  for (const auto& [lab, files] : starters()) CHECK(compared(files, files, given.at(lab)).codes.at(0).num_tokens == 0);
}
