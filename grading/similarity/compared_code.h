#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "grading/similarity/normal_code.h"
#include "grading/similarity/winnowing.h"

namespace lab::grading {

/// Code that everybody was given: what a hand-in has of it is not compared.
class BaseCode {
 public:
  explicit BaseCode(const WinnowingSizes& sizes = WinnowingSizes()) : sizes_(sizes) {}

  /// Files that belong together, such as a lab's starter. `files`: name -> text.
  void add(const std::map<std::string, std::string>& files);
  bool has(std::uint64_t run) const { return runs_.count(run) != 0; }
  const WinnowingSizes& sizes() const { return sizes_; }

 private:
  WinnowingSizes sizes_;
  std::unordered_set<std::uint64_t> runs_;  ///< checksums of all runs, not only of some as in a hand-in
};

/// Larger than the checksum of any run that counts.
inline constexpr std::uint64_t kBaseRun = std::numeric_limits<std::uint64_t>::max();

/// Where a fingerprint's run begins.
struct CodePlace {
  std::size_t file = 0, token = 0;
};

/// The files of one lab of one hand-in, ready to be compared: which file a run is in does not matter, nor in what order.
struct ComparedCode {
  std::vector<NormalFile> files;
  /// [file][i]: of the run that begins at token i; kBaseRun: it is in the base code.
  std::vector<std::vector<std::uint64_t>> runs;
  std::map<std::uint64_t, std::vector<CodePlace>> fingerprints;  ///< none of the base code

  /// Of a file: which tokens are in a run that is not in the base code.
  std::vector<bool> own_tokens(std::size_t file) const;
  std::size_t num_own_tokens() const;
  std::size_t run_tokens = 0;  ///< of a run
};

/// `files`: name -> text, as in SubmittedLab::sources.
ComparedCode compared_code(const std::map<std::string, std::string>& files, const BaseCode& base);

}  // namespace lab::grading
