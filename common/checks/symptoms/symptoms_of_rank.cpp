#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/checks/symptoms/symptom_kinds.h"

// The right numbers on other ranks.
namespace lab::symptoms {
namespace {

/// What the case expects for this result on another rank; undefined: nothing.
at::Tensor expected_on(const Clues& clues, int rank, const std::string& name) {
  const TensorMap& expected = clues.evidence.expected[static_cast<std::size_t>(rank)];
  const auto found = expected.find(name);
  return found == expected.end() ? at::Tensor() : found->second;
}

/// True if each wrong rank r holds what rank find_source(r) should.
bool holds_result(const Clues& clues, const std::function<int(int)>& find_source) {
  return all_fit(clues, [&](const WrongResult& each) { return expected_on(clues, find_source(each.rank), each.name); });
}

/// The rank whose result this rank holds in all its wrong results; -1: no rank's.
int source_of_rank(const Clues& clues, int rank) {
  Clues own(clues.evidence, {});
  for (const WrongResult& each : clues.wrong) {
    if (each.rank == rank) own.wrong.push_back(each);
  }
  for (int source = 0; source < clues.size(); ++source) {
    if (source != rank && holds_result(own, [&](int) { return source; })) return source;
  }
  return -1;
}

/// The source rank of a case that has one, otherwise 0.
int find_root(const Clues& clues) {
  const std::map<std::string, double>& numbers = clues.evidence.inputs.front().numbers;
  const auto found = numbers.find("src_rank");
  const int root = found == numbers.end() ? 0 : static_cast<int>(found->second);
  return root >= 0 && root < clues.size() ? root : 0;
}

bool has_src_rank(const Clues& clues) {
  return clues.evidence.inputs.front().numbers.count("src_rank") != 0;
}

/// True if all ranks were given the same input: then it does not belong to one rank.
bool is_everybodys(const Clues& clues, const at::Tensor& input, const std::string& name) {
  for (int rank = 0; rank < clues.size(); ++rank) {
    if (!same_values(input, input_named(clues, rank, name))) return false;
  }
  return true;
}

}  // namespace

Explanation ranks_swapped(const Clues& clues) {
  const std::vector<int> ranks = clues.ranks();
  if (!clues.among_ranks() || ranks.size() != 2) return std::nullopt;
  if (!holds_result(clues, [&](int rank) { return rank == ranks[0] ? ranks[1] : ranks[0]; })) return std::nullopt;
  return fmt::format("{} hold each other's {}: two ranks are mistaken for each other in an index or in a peer",
                     ranks_text(ranks), clues.subject());
}

Explanation ranks_shifted(const Clues& clues) {
  const int size = clues.size();
  if (!clues.among_ranks() || static_cast<int>(clues.ranks().size()) != size) return std::nullopt;
  for (int shift = 1; shift < size; ++shift) {
    if (!holds_result(clues, [&](int rank) { return (rank + shift) % size; })) continue;
    return fmt::format(
        "each rank r holds the {} of rank (r + {}) mod {}: an index is off by that many, or a ring is one step short "
        "or turns the other way",
        clues.subject(), shift, size);
  }
  return std::nullopt;
}

Explanation one_rank_everywhere(const Clues& clues) {
  if (!clues.among_ranks()) return std::nullopt;
  for (int source = 0; source < clues.size(); ++source) {
    if (!holds_result(clues, [&](int) { return source; })) continue;
    return fmt::format("{} hold{} the {} of rank {}: the part is selected by a fixed index instead of the rank",
                       ranks_text(clues.ranks()), clues.ranks().size() == 1 ? "s" : "", clues.subject(), source);
  }
  return std::nullopt;
}

Explanation ranks_permuted(const Clues& clues) {
  if (!clues.among_ranks() || clues.wrong.empty()) return std::nullopt;
  std::vector<int> sources;
  for (const int rank : clues.ranks()) sources.push_back(source_of_rank(clues, rank));
  const std::set<int> different(sources.begin(), sources.end());
  if (different.count(-1) != 0 || different.size() != sources.size()) return std::nullopt;
  return fmt::format("{} hold the {} of ranks {}, in this order: results go to the wrong ranks",
                     ranks_text(clues.ranks()), clues.subject(), fmt::join(sources, ", "));
}

Explanation one_input_everywhere(const Clues& clues) {
  if (!clues.among_ranks() || clues.ranks().size() < 2) return std::nullopt;
  for (int source = 0; source < clues.size(); ++source) {
    for (const auto& [name, input] : clues.evidence.inputs[static_cast<std::size_t>(source)].tensors) {
      const at::Tensor& held = input;
      if (!all_fit(clues, [&](const WrongResult&) { return held; })) continue;
      if (is_everybodys(clues, held, name.substr(name.find('.') + 1))) continue;
      return fmt::format("every rank has what rank {} had before: {}", source,
                         has_src_rank(clues) ? "src_rank is not used" : "what the other ranks have is not used");
    }
  }
  return std::nullopt;
}

Explanation only_rank_zero_right(const Clues& clues) {
  if (!clues.among_ranks() || clues.size() < 3) return std::nullopt;
  const int root = find_root(clues);
  const std::vector<int> ranks = clues.ranks();
  const bool root_right = std::find(ranks.begin(), ranks.end(), root) == ranks.end();
  if (!root_right || static_cast<int>(ranks.size()) != clues.size() - 1) return std::nullopt;
  if (has_src_rank(clues))
    return fmt::format("only the source, rank {}, is right: what it has does not reach the other ranks", root);
  return "only rank 0 is right: what it has computed is not sent on to the other ranks, or what it does is not done "
         "there";
}

}  // namespace lab::symptoms
