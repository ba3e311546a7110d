#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab::grading {

/// A change to the reference: a wrong or forbidden solution, or an unusual one that is right.
struct Mutant {
  std::string name;                 ///< "a9/mean_for_sum": its patch is a9/mean_for_sum.patch
  std::string task;                 ///< the task that must lose marks; empty: a variant, which loses none
  std::string lab;                  ///< short name: "a9"
  std::vector<std::string> also;    ///< further tasks that may lose marks although they do not need `task`
  std::vector<std::string> checks;  ///< the checks of `task` that must fail, and no others; empty: any
  bool alone = false;               ///< no other task may lose marks, not even one that needs `task`
  std::string symptom;              ///< id of the symptom that the report must name; empty: any or none
  std::string what;                 ///< one line
  bool nightly = false;             ///< slow, or much like another: left out when time is short

  bool is_variant() const { return task.empty(); }
};

/// Reads mutants.toml. Every patch in the folder must be listed, and every listed patch must exist.
/// Errors    UsageError: what is wrong, and where
std::vector<Mutant> load_mutants(const std::string& folder);

/// The mutant's student files, by their names in the lab ("student/ring.cpp"): the reference's texts with the patch
/// applied. `texts` is the reference.
/// Call      needs the program `patch`
/// Errors    UsageError: the patch does not apply exactly, or touches another file
std::map<std::string, std::string> mutated(const Mutant& mutant, const std::string& folder,
                                           const std::string& lab_folder,
                                           const std::map<std::string, std::string>& texts);

}  // namespace lab::grading
