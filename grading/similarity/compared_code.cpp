#include "grading/similarity/compared_code.h"

#include <algorithm>

namespace lab::grading {

void BaseCode::add(const std::map<std::string, std::string>& files) {
  for (const NormalFile& file : normal_code(files)) {
    const std::vector<std::uint64_t> runs = run_checksums(file.tokens, sizes_.run_tokens);
    runs_.insert(runs.begin(), runs.end());
  }
}

std::vector<bool> ComparedCode::own_tokens(std::size_t file) const {
  std::vector<bool> own(files[file].tokens.size(), false);
  for (std::size_t i = 0; i < runs[file].size(); ++i) {
    if (runs[file][i] != kBaseRun) std::fill_n(own.begin() + static_cast<std::ptrdiff_t>(i), run_tokens, true);
  }
  return own;
}

std::size_t ComparedCode::num_own_tokens() const {
  std::size_t num = 0;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::vector<bool> own = own_tokens(file);
    num += static_cast<std::size_t>(std::count(own.begin(), own.end(), true));
  }
  return num;
}

ComparedCode compared_code(const std::map<std::string, std::string>& files, const BaseCode& base) {
  ComparedCode code;
  code.run_tokens = base.sizes().run_tokens;
  code.files = normal_code(files);
  for (std::size_t file = 0; file < code.files.size(); ++file) {
    std::vector<std::uint64_t> runs = run_checksums(code.files[file].tokens, code.run_tokens);
    // Before some are chosen, not after: or else base code in a window would hide what is next to it.
    for (std::uint64_t& run : runs) {
      if (base.has(run)) run = kBaseRun;
    }
    for (const std::size_t token : winnowed(runs, base.sizes().window_runs)) {
      if (runs[token] != kBaseRun) code.fingerprints[runs[token]].push_back({file, token});
    }
    code.runs.push_back(std::move(runs));
  }
  return code;
}

}  // namespace lab::grading
