#include "grading/similarity/matching_spans.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace lab::grading {
namespace {

/// Of a run that repeats itself, such as in a table of numbers.
constexpr std::size_t kMostPlaces = 8;

class SpanFinder {
 public:
  SpanFinder(const ComparedCode& first, const ComparedCode& second)
      : first_(first), second_(second), free_first_(all_free(first)), free_second_(all_free(second)) {}

  std::vector<MatchingSpan> find() {
    find_candidates();
    std::vector<MatchingSpan> spans;
    while (!candidates_.empty()) {
      const MatchingSpan longest = candidates_.top();
      candidates_.pop();
      const MatchingSpan left = longest_free_part(longest);
      if (left.num_tokens < first_.run_tokens) continue;
      if (left.num_tokens < longest.num_tokens) {
        candidates_.push(left);
        continue;
      }
      take(free_first_, left.first, left.num_tokens);
      take(free_second_, left.second, left.num_tokens);
      spans.push_back(left);
    }
    return spans;
  }

 private:
  struct Shorter {
    static auto key(const MatchingSpan& span) {  // of equally long ones, the earliest comes first
      return std::make_tuple(span.num_tokens, ~span.first.file, ~span.first.token, ~span.second.file,
                             ~span.second.token);
    }
    bool operator()(const MatchingSpan& a, const MatchingSpan& b) const { return key(a) < key(b); }
  };
  using Free = std::vector<std::vector<bool>>;  ///< [file][token]: in no span yet

  static Free all_free(const ComparedCode& code) {
    Free free;
    for (const NormalFile& file : code.files) free.emplace_back(file.tokens.size(), true);
    return free;
  }

  /// Each place that both have, as far as it goes in both directions.
  void find_candidates() {
    std::vector<std::pair<CodePlace, CodePlace>> seeds;
    for (const auto& [fingerprint, places] : first_.fingerprints) {
      const auto found = second_.fingerprints.find(fingerprint);
      if (found == second_.fingerprints.end()) continue;
      for (std::size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i) {
        for (std::size_t j = 0; j < std::min(found->second.size(), kMostPlaces); ++j)
          seeds.emplace_back(places[i], found->second[j]);
      }
    }
    std::sort(seeds.begin(), seeds.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first.file, a.first.token, a.second.file, a.second.token) <
             std::tie(b.first.file, b.first.token, b.second.file, b.second.token);
    });
    // Where the last span ended in the first file, by both files and how far the second is ahead: seeds within a span
    // that is known lead to the same one.
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> ends;
    for (const auto& [a, b] : seeds) {
      std::size_t& end = ends[{a.file, b.file, b.token - a.token}];
      if (a.token < end) continue;
      const MatchingSpan span = extended(a, b);
      end = span.first.token + span.num_tokens - first_.run_tokens + 1;  // of its runs
      candidates_.push(span);
    }
  }

  bool same_run(CodePlace a, CodePlace b) const {
    const std::vector<std::uint64_t>& runs_a = first_.runs[a.file];
    const std::vector<std::uint64_t>& runs_b = second_.runs[b.file];
    return a.token < runs_a.size() && b.token < runs_b.size() && runs_a[a.token] == runs_b[b.token] &&
           runs_a[a.token] != kBaseRun;
  }

  MatchingSpan extended(CodePlace a, CodePlace b) const {
    while (a.token > 0 && b.token > 0 && same_run({a.file, a.token - 1}, {b.file, b.token - 1})) {
      --a.token;
      --b.token;
    }
    std::size_t num_runs = 1;
    while (same_run({a.file, a.token + num_runs}, {b.file, b.token + num_runs})) ++num_runs;
    return {a, b, num_runs + first_.run_tokens - 1};
  }

  MatchingSpan longest_free_part(const MatchingSpan& span) const {
    MatchingSpan longest = span, part = span;
    longest.num_tokens = part.num_tokens = 0;
    for (std::size_t i = 0; i < span.num_tokens; ++i) {
      const CodePlace a = {span.first.file, span.first.token + i}, b = {span.second.file, span.second.token + i};
      if (!free_first_[a.file][a.token] || !free_second_[b.file][b.token]) {
        part.num_tokens = 0;
        continue;
      }
      if (part.num_tokens == 0) part = {a, b, 0};
      if (++part.num_tokens > longest.num_tokens) longest = part;
    }
    return longest;
  }

  static void take(Free& free, CodePlace from, std::size_t num_tokens) {
    std::fill_n(free[from.file].begin() + static_cast<std::ptrdiff_t>(from.token), num_tokens, false);
  }

  const ComparedCode& first_;
  const ComparedCode& second_;
  Free free_first_, free_second_;
  std::priority_queue<MatchingSpan, std::vector<MatchingSpan>, Shorter> candidates_;
};

}  // namespace

std::vector<MatchingSpan> matching_spans(const ComparedCode& first, const ComparedCode& second) {
  return SpanFinder(first, second).find();
}

}  // namespace lab::grading
