#include "grading/similarity/winnowing.h"

#include <algorithm>

namespace lab::grading {

std::vector<std::uint64_t> run_checksums(const std::vector<NormalToken>& tokens, std::size_t run_tokens) {
  std::vector<std::uint64_t> checksums;
  for (std::size_t begin = 0; begin + run_tokens <= tokens.size(); ++begin) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (std::size_t i = begin; i < begin + run_tokens; ++i) {
      sum = (sum ^ tokens[i].kind) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 29;  // or else the low bits of a sum depend on low bits only
    }
    checksums.push_back(sum);
  }
  return checksums;
}

std::vector<std::size_t> winnowed(const std::vector<std::uint64_t>& checksums, std::size_t window_runs) {
  std::vector<std::size_t> chosen;
  const std::size_t window = std::min(window_runs, checksums.size());
  for (std::size_t end = window; window > 0 && end <= checksums.size(); ++end) {
    std::size_t least = end - 1;
    for (std::size_t i = end - 1; i-- > end - window;) {
      if (checksums[i] < checksums[least]) least = i;
    }
    if (chosen.empty() || chosen.back() != least) chosen.push_back(least);
  }
  return chosen;
}

}  // namespace lab::grading
