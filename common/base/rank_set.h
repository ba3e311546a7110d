#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab {

/// A set of ranks: one bit each, since every message adds to one.
class RankSet {
 public:
  void add(int rank) {
    const auto word = static_cast<std::size_t>(rank) / kBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= std::uint64_t{1} << static_cast<std::size_t>(rank) % kBits;
  }
  RankSet& operator|=(const RankSet& other) {
    words_.resize(std::max(words_.size(), other.words_.size()));
    for (std::size_t word = 0; word < other.words_.size(); ++word) words_[word] |= other.words_[word];
    return *this;
  }

  /// In ascending order.
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < words_.size() * kBits; ++rank) {
      if ((words_[rank / kBits] >> rank % kBits & 1) != 0) all.push_back(static_cast<int>(rank));
    }
    return all;
  }
  std::size_t size() const { return ranks().size(); }

  friend bool operator==(const RankSet& a, const RankSet& b) { return a.ranks() == b.ranks(); }
  friend bool operator!=(const RankSet& a, const RankSet& b) { return !(a == b); }

 private:
  static constexpr std::size_t kBits = 64;

  std::vector<std::uint64_t> words_;
};

}  // namespace lab
