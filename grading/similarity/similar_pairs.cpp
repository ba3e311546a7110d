#include "grading/similarity/similar_pairs.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace lab::grading {

std::vector<SimilarPair> similar_pairs(const std::vector<ComparedCode>& hand_ins, const SimilarityLimits& limits,
                                       const std::function<bool(std::size_t, std::size_t)>& may_be_pair) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> owners;
  for (std::size_t i = 0; i < hand_ins.size(); ++i) {
    for (const auto& [fingerprint, places] : hand_ins[i].fingerprints) owners[fingerprint].push_back(i);
  }
  const double common = std::max(limits.common_hand_ins, limits.common_share * static_cast<double>(hand_ins.size()));
  std::vector<double> total(hand_ins.size(), 0);
  struct Shared {
    double weight = 0;
    std::size_t num = 0;
  };
  std::vector<std::vector<Shared>> shared(hand_ins.size());  // [second][first], first < second
  for (std::size_t i = 0; i < hand_ins.size(); ++i) shared[i].resize(i);
  for (const auto& [fingerprint, those] : owners) {
    const double weight = std::min(1.0, common / static_cast<double>(those.size()));
    for (std::size_t j = 0; j < those.size(); ++j) {
      total[those[j]] += weight;
      for (std::size_t i = 0; i < j; ++i) {
        Shared& both = shared[those[j]][those[i]];
        both.weight += weight;
        ++both.num;
      }
    }
  }
  std::vector<SimilarPair> pairs;
  for (std::size_t second = 0; second < hand_ins.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      const Shared& both = shared[second][first];
      if (both.num > 0 && may_be_pair(first, second))
        pairs.push_back({first, second, both.num, both.weight / total[first], both.weight / total[second]});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const SimilarPair& a, const SimilarPair& b) {
    return std::make_tuple(-a.largest_share(), b.fingerprints, a.first, a.second) <
           std::make_tuple(-b.largest_share(), a.fingerprints, b.first, b.second);
  });
  return pairs;
}

}  // namespace lab::grading
