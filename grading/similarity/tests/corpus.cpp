#include "grading/similarity/tests/corpus.h"

#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "common/base/files.h"
#include "common/course/starter/markers.h"
#include "common/testing/plain_test.h"
#include "grading/mutants/mutant_index.h"
#include "grading/starter/derive_starter.h"

namespace lab::grading {
namespace {

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

}  // namespace

std::string source_dir() {
  const char* folder = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(folder != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return folder;
}

std::map<std::string, Files> references() {
  std::map<std::string, Files> files;
  for (const std::string& lab : labs_of_source(source_dir())) files[lab] = student_files(source_dir() + "/" + lab);
  return files;
}

std::map<std::string, Files> starters() {
  std::map<std::string, Files> all = references();
  for (auto& [lab, files] : all) {
    for (auto& [name, text] : files) text = join_starter(parse_solution_markers(text));
  }
  return all;
}

std::vector<IndependentPair> variants_and_references() {
  std::vector<IndependentPair> pairs;
  const std::string folder = source_dir() + "/grading/mutants";
  const std::map<std::string, Files> all = references();
  for (const Mutant& mutant : load_mutants(folder)) {
    if (!mutant.is_variant()) continue;
    for (const auto& [lab, reference] : all) {
      if (lab.compare(0, mutant.lab.size() + 1, mutant.lab + "_") != 0) continue;
      IndependentPair pair = {mutant.name, lab, reference, mutated(mutant, folder, lab, reference)};
      for (const auto& [name, text] : reference) leave_what_differs(name, pair.first, pair.second);
      pairs.push_back(pair);
    }
  }
  return pairs;
}

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

std::vector<IndependentPair> whole_solutions() {
  std::vector<IndependentPair> pairs;
  const std::string folder = source_dir() + "/grading/similarity/tests/independent";
  for (const auto& [lab, reference] : references()) {
    std::vector<std::pair<std::string, Files>> solutions = {{"reference", reference}};
    for (const char* student : {"ada", "bela"}) {
      const std::string of_lab = folder + "/" + student + "/" + lab;
      if (std::filesystem::exists(of_lab)) solutions.emplace_back(student, student_files(of_lab));
    }
    for (std::size_t i = 0; i < solutions.size(); ++i) {
      for (std::size_t j = i + 1; j < solutions.size(); ++j)
        pairs.push_back({lab + ": " + solutions[i].first + " and " + solutions[j].first, lab, solutions[i].second,
                         solutions[j].second});
    }
  }
  return pairs;
}

}  // namespace lab::grading
