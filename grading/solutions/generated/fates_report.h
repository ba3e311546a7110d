#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "grading/solutions/generated/campaign.h"

namespace lab::grading::generated {

/// Whether `found` of `tried` is consistent with a share of at least `percent`. Where all mutants were tried, `found` must
/// be that share or more. A sample may be unlucky: it is accepted unless, with exactly that share, so few would be found
/// in less than one sample in a hundred (binomial distribution).
bool is_share_at_least(double percent, int found, int tried, bool sampled);

/// How many mutants of a lab, or of a task, came to which end.
struct Tally {
  int made = 0, compiled = 0, by_check = 0, by_judge = 0;  ///< by_judge: only by the judge
  int explained = 0;                                       ///< equal to the bit, with a reason: equivalent
  int unexplained = 0;                                     ///< equal to the bit, without
  int survived = 0;                                        ///< neither caught nor equal
  double seconds = 0;

  Tally& operator+=(const Tally& other);
  /// Of those that compile and are not equivalent, in percent; 100 if there are none.
  double check_share() const;
  double judge_share() const;  ///< caught by either
  /// Equivalent ones of those that compile, in percent.
  double equivalent_share() const;
};

Tally count_fates(const std::vector<Fate>& fates);

/// A row for each lab and task, and the sum.
std::string render_table(const std::vector<std::pair<std::string, Tally>>& rows);

/// Lines about every mutant that nothing caught: survivors by what they do differently, then the equal ones.
std::string text_of_survivors(const std::string& lab_folder, const std::string& lab, const std::vector<Fate>& fates);

/// Adds all fates to a list.
void add_json(nlohmann::ordered_json& list, const std::string& lab, const std::vector<Fate>& fates);

}  // namespace lab::grading::generated
