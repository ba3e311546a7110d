#include "common/checks/symptoms/symptom.h"

#include <algorithm>

#include "common/checks/symptoms/symptom_kinds.h"

namespace lab {
namespace {

struct EndingKind {
  const char* id;
  symptoms::Explanation (*explain)(const CaseEvidence&);
};

const EndingKind kEndingKinds[] = {{"deadlock", symptoms::ended_in_deadlock},
                                   {"stray_message", symptoms::ended_with_stray_message},
                                   {"another_pattern", symptoms::another_pattern},
                                   {"works_for_all", symptoms::works_for_all},
                                   {"works_twice", symptoms::works_twice},
                                   {"holds_for_all", symptoms::holds_for_all},
                                   {"one_after_the_other", symptoms::one_after_the_other},
                                   {"gathers_everything", symptoms::gathers_everything},
                                   {"nothing_received", symptoms::nothing_received}};

struct ResultKind {
  const char* id;
  symptoms::Explanation (*explain)(const Clues&);
};

// The most specific first: those that say where each number came from precede those that only say where it is wrong.
const ResultKind kResultKinds[] = {{"gradient_missing", symptoms::gradient_missing},
                                   {"result_undefined", symptoms::result_undefined},
                                   {"wrong_dtype", symptoms::wrong_dtype},
                                   {"joined_along_another_dim", symptoms::joined_along_another_dim},
                                   {"transposed", symptoms::transposed},
                                   {"wrong_shape_right_numbers", symptoms::wrong_shape_right_numbers},
                                   {"wrong_shape_is_part", symptoms::wrong_shape_is_part},
                                   {"wrong_shape_is_whole", symptoms::wrong_shape_is_whole},
                                   {"nothing_changed", symptoms::nothing_changed},
                                   {"argument_unchanged", symptoms::argument_unchanged},
                                   {"argument_changed", symptoms::argument_changed},
                                   {"another_result", symptoms::another_result},
                                   {"ranks_swapped", symptoms::ranks_swapped},
                                   {"ranks_shifted", symptoms::ranks_shifted},
                                   {"one_rank_everywhere", symptoms::one_rank_everywhere},
                                   {"ranks_permuted", symptoms::ranks_permuted},
                                   {"first_slice_everywhere", symptoms::first_slice_everywhere},
                                   {"own_part_missing", symptoms::own_part_missing},
                                   {"chunks_out_of_order", symptoms::chunks_out_of_order},
                                   {"bias_times_world_size", symptoms::bias_times_world_size},
                                   {"bias_missing", symptoms::bias_missing},
                                   {"divided_by_world_size", symptoms::divided_by_world_size},
                                   {"times_world_size", symptoms::times_world_size},
                                   {"divided_by_count", symptoms::divided_by_count},
                                   {"times_count", symptoms::times_count},
                                   {"sign", symptoms::sign},
                                   {"one_input_everywhere", symptoms::one_input_everywhere},
                                   {"not_a_number", symptoms::not_a_number},
                                   {"never_written", symptoms::never_written},
                                   {"borders_only", symptoms::borders_only},
                                   {"only_rank_zero_right", symptoms::only_rank_zero_right},
                                   {"own_part_only", symptoms::own_part_only},
                                   {"summand_missing", symptoms::summand_missing},
                                   {"summand_twice", symptoms::summand_twice},
                                   {"sum_missing", symptoms::sum_missing},
                                   {"average_missing", symptoms::average_missing},
                                   {"zeros", symptoms::zeros},
                                   {"rounding_only", symptoms::rounding_only}};

/// True if every wrong result is the one that the mistake gives.
bool matches(const KnownMistake& mistake, const Clues& clues) {
  std::vector<TensorMap> wrong(static_cast<std::size_t>(clues.size()));
  for (const int rank : clues.ranks())
    wrong[static_cast<std::size_t>(rank)] = mistake.wrong({rank, clues.size(), clues.evidence.seed});
  return all_fit(clues, [&](const WrongResult& each) {
    const TensorMap& of_rank = wrong[static_cast<std::size_t>(each.rank)];
    const auto found = of_rank.find(each.name);
    return found == of_rank.end() ? at::Tensor() : found->second;
  });
}

std::optional<Symptom> symptom_of_results(const Clues& clues) {
  if (clues.wrong.empty()) return std::nullopt;
  for (const KnownMistake& mistake : clues.evidence.test_case.known_mistakes) {
    if (matches(mistake, clues)) return Symptom{mistake.id, mistake.message};
  }
  for (const ResultKind& kind : kResultKinds) {
    if (const symptoms::Explanation message = kind.explain(clues)) return Symptom{kind.id, *message};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Symptom> find_symptom(const CaseEvidence& evidence) {
  for (const EndingKind& kind : kEndingKinds) {
    if (const symptoms::Explanation message = kind.explain(evidence)) return Symptom{kind.id, *message};
  }
  const Clues clues = all_clues(evidence);
  if (auto symptom = symptom_of_results(clues)) return symptom;
  // One mistake can show in many results, of which one is clear: a bias, next to gradients that went through more.
  std::vector<std::string> names;
  for (const WrongResult& each : clues.wrong) {
    if (std::find(names.begin(), names.end(), each.name) == names.end()) names.push_back(each.name);
  }
  for (std::size_t i = 0; names.size() > 1 && i < names.size(); ++i) {
    if (auto symptom = symptom_of_results(only_named(clues, names[i]))) return symptom;
  }
  return std::nullopt;
}

const Symptom kRightOnce = {
    "right_once",
    "it is right when it is called for the first time, not when it is called again with other data of the same sizes: "
    "something lives on from call to call, such as a static variable or a buffer that is used again"};

std::vector<std::string> symptom_ids() {
  std::vector<std::string> ids = {kRightOnce.id};
  for (const EndingKind& kind : kEndingKinds) ids.emplace_back(kind.id);
  for (const ResultKind& kind : kResultKinds) ids.emplace_back(kind.id);
  return ids;
}

}  // namespace lab
