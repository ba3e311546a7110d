#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/compile/build_recipe.h"
#include "grading/solutions/generated/schemata_build.h"

namespace lab::grading::generated {

/// All mutants of a lab's reference, by file; ids are 1, 2, ... in the order of the rows.
struct LabMutants {
  std::string lab;  ///< "a9": short name
  Sources sources;

  std::vector<const SourceMutant*> all() const;  ///< a row that changes several files has one in each
  const SourceMutant* find(int id) const;        ///< the first of the row's; nullptr: there is none
  /// The lab's student files with one row's changes, as a submission.
  std::map<std::string, std::string> submission(int id, const BuildRecipe& recipe) const;
};

/// The rows of a lab, applied to its reference; but those that are patches.
/// Errors    UsageError: a row does not fit its file, or names a task that the lab does not have
LabMutants lab_mutants(const std::string& lab, const BuildRecipe& recipe, const Rubric& rubric,
                       const std::vector<Solution>& rows);

/// `count` of the items, chosen by a seed, in their order; all if there are no more.
std::vector<std::size_t> take_sample(std::size_t num_items, std::size_t count, std::uint64_t seed);

/// A mutant that does what the original does, and why.
struct Equivalent {
  std::string file;       ///< "a9_collectives/student/broadcast/flat.cpp"; "a9_collectives/": all below
  std::string line_text;  ///< the line, without the spaces around it; empty: any
  std::string rule;       ///< empty: any
  std::string what;       ///< the beginning of the mutant's text; empty: any
  std::string why;
};

/// Reads equivalent.toml.
/// Errors    UsageError: what is wrong, and where
std::vector<Equivalent> load_equivalents(const std::string& path);

/// Why this mutant is equivalent, as the list says; empty: it does not say.
std::string find_reason(const std::vector<Equivalent>& list, const std::string& lab_folder, const SourceMutant& mutant);

}  // namespace lab::grading::generated
