#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grading/similarity/normal_code.h"

namespace lab::grading {

/// How long a run of tokens is whose checksum is a fingerprint, and from how many of them in a row one is chosen.
struct WinnowingSizes {
  std::size_t run_tokens = 12;
  std::size_t window_runs = 4;
};

/// The checksum of each run of tokens of a file: [i] of the one that begins at token i. A file that is shorter has none.
std::vector<std::uint64_t> run_checksums(const std::vector<NormalToken>& tokens, std::size_t run_tokens);

/// Which runs are chosen as fingerprints: of each window the one with the least checksum, of equal ones the last.
/// Two files that share run_tokens + window_runs - 1 tokens in a row share a fingerprint.
/// Source    Schleimer, Wilkerson, Aiken: Winnowing: local algorithms for document fingerprinting. SIGMOD 2003
/// Example   checksums 77 74 42 17 98 50 17 98, windows of 4: those at 3 and 6, both 17
std::vector<std::size_t> winnowed(const std::vector<std::uint64_t>& checksums, std::size_t window_runs);

}  // namespace lab::grading
