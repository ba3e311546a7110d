#include <algorithm>
#include <filesystem>
#include <iterator>

#include "common/base/files.h"
#include "common/course/starter/markers.h"
#include "common/testing/plain_test.h"
#include "common/testing/texts.h"
#include "grading/similarity/lab_similarity.h"
#include "grading/similarity/tests/disguises.h"
#include "grading/solutions/solution_table.h"
#include "grading/starter/derive_starter.h"
#include "grading/starter/tests/source_tree.h"

// Precision and recall of what is called a pair to look at, with the limits that `lab similar` has by default: on hand-ins
// that are known to be copies, or known not to be, made of the suite's own solutions.
namespace lab::grading {
namespace {

/// Two hand-ins for a lab by people who did not work together.
struct IndependentPair {
  std::string name, lab;
  Files first, second;
};

Files student_files(const std::string& lab_folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(lab_folder + "/student")) {
    if (entry.path().extension() == ".cpp")
      files[entry.path().lexically_relative(lab_folder).string()] = read_file(entry.path().string());
  }
  return files;
}

/// Both files with only those solutions that differ; the others are stubs.
void leave_what_differs(const std::string& name, Files& first, Files& second) {
  std::vector<SourcePart> a = parse_solution_markers(first.at(name)), b = parse_solution_markers(second.at(name));
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].task.empty() || a[i].lines != b[i].lines) continue;
    a[i].lines = a[i].stub;
    b[i].lines = b[i].stub;
  }
  first[name] = join_reference(a);
  second[name] = join_reference(b);
}

/// The labs' student files with the reference solutions, by lab.
std::map<std::string, Files> references() {
  std::map<std::string, Files> files;
  for (const std::string& lab : labs_of_source(source_dir())) files[lab] = student_files(source_dir() + "/" + lab);
  return files;
}

/// The same as students get them.
std::map<std::string, Files> starters() {
  std::map<std::string, Files> all = references();
  for (auto& [lab, files] : all) {
    for (auto& [name, text] : files) text = join_starter(parts_of_source(text));
  }
  return all;
}

/// The reference with a row's parts, each from a marker to the next; none where less than a part is changed.
std::optional<Files> changed(Files files, const std::string& lab, const Solution& solution) {
  if (solution.changes.empty()) return std::nullopt;
  for (const SourceChange& change : solution.changes) {
    if (change.part == 0) return std::nullopt;
    std::string& text = files.at(change.file.substr(lab.size() + 1));
    std::size_t begin = 0;
    for (int part = 0; part < change.part; ++part) begin = text.find("// BEGIN SOLUTION " + solution.task, begin + 1);
    // The marker has the lines of a starter, a comment and a call, below it.
    begin = text.find('\n', std::max(begin, text.rfind("// STUB", text.find("// END SOLUTION", begin)))) + 1;
    const std::size_t end = text.rfind('\n', text.find("// END SOLUTION", begin)) + 1;
    text.replace(begin, end - begin, change.with + "\n");
  }
  return files;
}

/// The right rows of grading/solutions that replace whole parts, each with the reference's solution of the same tasks.
/// What they did not change is a stub in both, as it is the reference's.
std::vector<IndependentPair> variants_and_references() {
  std::vector<IndependentPair> pairs;
  const std::string folder = source_dir() + "/grading/solutions";
  for (const auto& [lab, reference] : references()) {
    const std::string table = folder + "/" + lab.substr(0, lab.find('_')) + ".toml";
    for (const Solution& solution : load_solutions(table).solutions) {
      const std::optional<Files> files = solution.right ? changed(reference, lab, solution) : std::nullopt;
      if (!files) continue;
      IndependentPair pair = {solution.place, lab, reference, *files};
      for (const auto& [name, text] : reference) leave_what_differs(name, pair.first, pair.second);
      pairs.push_back(pair);
    }
  }
  return pairs;
}

/// A9's algorithms for one collective, each file alone, and each with each.
std::vector<IndependentPair> algorithms_of_a_collective() {
  std::vector<IndependentPair> pairs;
  const std::string lab = "a9_collectives";
  const Files files = references().at(lab);
  const auto collective = [](const std::string& name) { return name.substr(0, name.rfind('/')); };
  for (auto first = files.begin(); first != files.end(); ++first) {
    for (auto second = std::next(first); second != files.end(); ++second) {
      if (collective(first->first) == collective(second->first))
        pairs.push_back({first->first + " " + second->first, lab, {*first}, {*second}});
    }
  }
  return pairs;
}

/// A student's files of the lab in tests/independent.
Files independent_files(const std::string& student, const std::string& lab) {
  Files files;
  for (const auto& [name, text] :
       lab::testing::read_texts(source_dir() + "/grading/similarity/tests/independent/" + student + ".txt")) {
    if (name.rfind(lab + "/", 0) == 0) files[name.substr(lab.size() + 1)] = text;
  }
  return files;
}

/// The solutions of A4 and A5 in tests/independent, whole labs, and the reference, each with each.
std::vector<IndependentPair> whole_solutions() {
  std::vector<IndependentPair> pairs;
  for (const auto& [lab, reference] : references()) {
    std::vector<std::pair<std::string, Files>> solutions = {{"reference", reference}};
    for (const char* student : {"ada", "bela"}) {
      const Files files = independent_files(student, lab);
      if (!files.empty()) solutions.emplace_back(student, files);
    }
    for (std::size_t i = 0; i < solutions.size(); ++i) {
      for (std::size_t j = i + 1; j < solutions.size(); ++j)
        pairs.push_back({lab + ": " + solutions[i].first + " and " + solutions[j].first, lab, solutions[i].second,
                         solutions[j].second});
    }
  }
  return pairs;
}

using GivenLines = std::map<std::string, std::set<std::string>>;

/// Two hand-ins for a lab, and what they have in common.
LabSimilarity compared(const Files& first, const Files& second, const std::set<std::string>& given) {
  static const Sandbox sandbox = Sandbox::detect(false);
  PlannedHandIn one, other;
  one.who = "one";
  other.who = "other";
  return compare_lab("lab", {{&one, first}, {&other, second}}, given, sandbox);
}

SimilarPair make_pair_json(const Files& first, const Files& second, const std::set<std::string>& given) {
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
  for (const IndependentPair& pair : pairs)
    found.add(pair.name, make_pair_json(pair.first, pair.second, given.at(pair.lab)));
  return found;
}

TEST_CASE("recall: every disguised copy of a whole lab is found") {
  const GivenLines given = given_lines(source_dir());
  Found found;
  for (const auto& [lab, files] : references()) {
    for (const Disguise& disguise : disguises()) {
      const Files copy = disguise.apply(files);
      CHECK(copy != files);
      found.add(lab + ", " + disguise.name, make_pair_json(files, copy, given.at(lab)));
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
      found += make_pair_json(pair.first, mixed, given.at(pair.lab)).is_notable(SimilarityLimits()) ? 1 : 0;
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
  CHECK(variants.pairs > 8);
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

}  // namespace
}  // namespace lab::grading
